//! What debug output may show: it ends in logs and bug reports, and titles and what a person typed
//! have no business there.

/// Writes `Debug` for types that hold private text: only the members that are named are shown.
macro_rules! shown {
    ($($name:ident { $($member:ident),* })*) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($member), &self.$member))*
                    .finish_non_exhaustive()
            }
        }
    )*};
}
pub(crate) use shown;
