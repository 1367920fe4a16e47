//! What https needs; only in builds that speak it.

use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Trusts what the system trusts.
///
/// # Errors
///
/// The system trusts nobody.
pub(super) fn config() -> Result<TlsConfig, String> {
    let found = rustls_native_certs::load_native_certs();
    let certificates: Vec<_> =
        found.certs.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
    if certificates.is_empty() {
        return Err("no certificates were found; Debian has them in ca-certificates".into());
    }
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(certificates)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}
