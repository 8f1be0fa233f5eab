"""What an application held before the baseline, and how that is put back for a while."""
