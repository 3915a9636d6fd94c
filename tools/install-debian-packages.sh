#!/bin/sh
# Installs what real nodes, and schedulers in other languages, need from Debian's (or Ubuntu's) packages, if anything of it is missing.
set -eu

packages="busybox-static containerd containernetworking-plugins git iproute2 procps runc tar util-linux"

missing=""
for package in $packages; do
  # busybox and busybox-static provide the same program; only the static one runs alone in an image.
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
# Programs that may have come from elsewhere as well: program=package.
for each in curl=curl java=default-jdk-headless jq=jq python3=python3; do
  command -v "${each%=*}" >/dev/null 2>&1 || missing="$missing ${each#*=}"
done
python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
[ -n "$missing" ] || exit 0

echo "berth: installing Debian packages:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2
# shellcheck disable=SC2086 # the list is meant to be split
apt-get install -y -qq --no-install-recommends $missing >&2
