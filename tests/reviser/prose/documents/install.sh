#!/bin/sh
# Installs the program, and say so.
set -eu
# shellcheck disable=SC2034
echo "# not a comment" # It print something.
cat <<END
# not a comment either
END
