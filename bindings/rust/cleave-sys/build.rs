// SPDX-License-Identifier: MIT
// Links libcleave.a from CLEAVE_LIB_DIR, or from the repository's build folder.
use std::{env, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-env-changed=CLEAVE_LIB_DIR");
    let folder = env::var_os("CLEAVE_LIB_DIR").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../build")
    });
    let library = folder.join("libcleave.a");
    if !library.exists() {
        panic!("{} is not there: run `make` in the repository, or set CLEAVE_LIB_DIR to the folder of libcleave.a", library.display());
    }
    println!("cargo:rerun-if-changed={}", library.display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=cleave");
    println!("cargo:rustc-link-lib=m");
    println!("cargo:rustc-link-lib=pthread");
}
