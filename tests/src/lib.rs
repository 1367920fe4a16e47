//! antidrift
