"""Which frames pass unread, since nobody wants more than their header."""
