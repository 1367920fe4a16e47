//! The socket server.
