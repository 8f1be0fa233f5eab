"""What an explanation would cost, before anything is paid."""
