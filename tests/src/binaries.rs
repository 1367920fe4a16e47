use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The built daemon.
pub fn antidriftd() -> PathBuf {
    directory().join("antidriftd")
}

/// The built client.
pub fn antidrift() -> PathBuf {
    directory().join("antidrift")
}

/// Where the binaries are: `ANTIDRIFT_BIN_DIR` if it is set, else beside the test executable,
/// after a build. Cargo builds the binaries of other packages for no test, so a run of the tests
/// alone could otherwise meet yesterday's daemon.
fn directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        if let Some(given) = env::var_os("ANTIDRIFT_BIN_DIR") {
            return complete(PathBuf::from(given));
        }
        let test = env::current_exe().unwrap();
        // target/PROFILE/deps/TEST-HASH
        let profile_dir = test.ancestors().nth(2).unwrap().to_path_buf();
        let profile = match profile_dir.file_name().unwrap().to_str().unwrap() {
            "debug" => "dev",
            name => name,
        };
        if let Some(cargo) = env::var_os("CARGO") {
            let built = Command::new(cargo)
                .args(["build", "--quiet", "--bins", "--profile", profile])
                .args(["--package", "antidrift-daemon", "--package", "antidrift-cli"])
                .arg("--target-dir")
                .arg(profile_dir.parent().unwrap())
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status();
            assert!(built.is_ok_and(|status| status.success()), "the binaries do not build");
        }
        complete(profile_dir)
    })
}

fn complete(directory: PathBuf) -> PathBuf {
    for name in ["antidriftd", "antidrift"] {
        let path = directory.join(name);
        assert!(path.is_file(), "{} is missing: run cargo build --workspace", path.display());
    }
    directory
}
