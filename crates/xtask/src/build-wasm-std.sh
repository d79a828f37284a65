# Builds the standard library for wasm32-unknown-unknown from Debian's rust-web-src,
# into the folder where Debian's rustc looks for it.
# Needs root, and the packages rustc-web, rust-web-src and lld-22.
set -euo pipefail
target=wasm32-unknown-unknown
library=$(/usr/bin/rustc --print target-libdir --target "$target")
source=$(readlink -f "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust")
work=$(mktemp -d)
trap 'rm -rf "$work" "$library.new"' EXIT

cp -r "$source/library" "$work/library"
cd "$work/library"
# Nothing that a caller sets for his own builds may leak into this one.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET RUSTC_WRAPPER
# Debian's vendored crates lack the dev-dependencies, so cargo takes the locked versions from the registry.
RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$work/target \
__CARGO_DEFAULT_LIB_METADATA=web-std CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_OPT_LEVEL=s \
RUSTFLAGS="-Cembed-bitcode=yes -Zforce-unstable-if-unmarked -Cpanic=abort" \
  "${CARGO:-cargo}" build --release --target "$target" -p sysroot --features panic-unwind,compiler-builtins-mem

# Copied aside and renamed: an interrupted copy is never taken for a finished one.
rm -rf "$library.new"
mkdir -p "$library.new"
cp "$work/target/$target/release/deps/"*.rlib "$library.new/"
rm -rf "$library"
mv "$library.new" "$library"
