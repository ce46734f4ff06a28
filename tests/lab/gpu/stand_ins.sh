#!/usr/bin/env bash
# Makes a Debian or Ubuntu host look like one with GPUs and a driver repository: signed, with small
# packages under the real names and with the real dependencies. Run on a lab host, as root.
# Usage: stand_ins.sh NEWEST...    (driver versions; with a 615 also an empty cuda-drivers)
set -euo pipefail
repo=/srv/repo build=$(mktemp -d)
mkdir -p $repo
. /etc/os-release # for ID
case $ID in debian) flavour=amd64 revision=1 ;; *) flavour=generic revision=0ubuntu1 ;; esac

package() { # package NAME VERSION DEPENDS [SOURCE_FOLDER]
    local folder=$build/$1_$2
    mkdir -p "$folder/DEBIAN"
    [ -z "${4:-}" ] || cp -a "$4/." "$folder/"
    printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: test\nDescription: stand-in\n' \
        "$1" "$2" >"$folder/DEBIAN/control"
    [ -z "$3" ] || echo "Depends: $3" >>"$folder/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$folder" "$repo/${1}_${2}_amd64.deb" >/dev/null
}

driver() { # driver VERSION: the computing half, each package wanting its own version
    local version=$1-$revision files=$build/files-$1 branch=${1%%.*}
    mkdir -p "$files"/{smi/usr/bin,daemon/lib/systemd/system,module/usr/src/nvidia-"$1",module/DEBIAN,cuda/usr/lib}
    echo "stand-in" >"$files/cuda/usr/lib/libcuda.so.$1"
    sed "s/@VERSION@/$1/" >"$files/smi/usr/bin/nvidia-smi" <<'SMI'
#!/bin/sh
case $* in # what a container may do is asked of the device itself
--list-gpus) { : </dev/nvidia0; } 2>/dev/null && echo "GPU 0: stand-in (UUID: GPU-0)" && exit 0
    echo "Failed to initialize NVML: Unknown Error"; exit 255 ;;
esac
running=$(sed -n 's/.*x86_64  \([0-9.]*\) .*/\1/p' /proc/driver/nvidia/version 2>/dev/null)
[ -n "$running" ] || { echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."; exit 9; }
[ "$running" = @VERSION@ ] || { echo "Failed to initialize NVML: Driver/library version mismatch"; exit 18; }
case $* in # memory: as a container that was removed, and is not yet gone, would hold it
*--query-gpu=index,memory.used*) echo "0, $(cat /run/gpu-held 2>/dev/null || echo 4)" ;;
*--query-compute-apps=pid,process*) [ ! -e /run/gpu-held ] || echo "4242, VLLM::Worker_TP0, $(cat /run/gpu-held)" ;;
*--query-gpu*) [ -e /etc/no-gpu ] || echo "0, NVIDIA RTX PRO 6000 Blackwell Server Edition, 00000000:C1:00.0, GPU-0, 12.0, 97887, 4, Disabled, $(cat /run/gpu-power 2>/dev/null || echo 600.00), 34.51, 0, Enabled, Disabled, @VERSION@" ;;
--power-limit=*) echo "${1#--power-limit=}.00" >/run/gpu-power; echo "$*" >>/var/log/nvidia-smi ;;
*--version*) echo "CUDA Version        : 13.0" ;;
esac
SMI
    chmod +x "$files/smi/usr/bin/nvidia-smi"
    printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n' \
        >"$files/daemon/lib/systemd/system/nvidia-persistenced.service"
    # As the real one: its module is built for the first kernel that has headers, here.
    printf '#!/bin/sh\ndkms autoinstall -k "$(ls /lib/modules | head -n 1)"\n' \
        >"$files/module/DEBIAN/postinst"
    chmod 755 "$files/module/DEBIAN/postinst"
    "${ID}_packages"
}

debian_packages() { # names without a branch
    package libcuda1 "$version" "" "$files/cuda"
    package libnvidia-ml1 "$version" ""
    package nvidia-driver-cuda "$version" "libcuda1 (= $version), libnvidia-ml1 (= $version)" "$files/smi"
    package nvidia-kernel-open-dkms "$version" "dkms" "$files/module"
    package nvidia-persistenced "$version" "libnvidia-ml1 (= $version)" "$files/daemon"
    package nvidia-open "$version" "nvidia-kernel-open-dkms (= $version), nvidia-driver-cuda (= $version)"
    # Names of an old branch, as Ubuntu has them
    package "libnvidia-compute-$branch" "$version" ""
    package "nvidia-driver-$branch" "$version" "libnvidia-compute-$branch (= $version)"
    package cuda-drivers "$version" "$([ "$branch" -ge 615 ] || echo "nvidia-open (= $version)")"
}

ubuntu_packages() { # up to 580 the branch is part of the names
    local b=-$branch
    [ "$branch" -lt 590 ] || b=
    package "libnvidia-compute$b" "$version" "" "$files/cuda"
    package "nvidia-utils$b" "$version" "libnvidia-compute$b (= $version)" "$files/smi"
    package "nvidia-compute-utils$b" "$version" "libnvidia-compute$b (= $version)" "$files/daemon"
    package "nvidia-dkms$b-open" "$version" "dkms" "$files/module"
    package "nvidia-headless$b-open" "$version" "nvidia-dkms$b-open (= $version), libnvidia-compute$b (= $version)"
    package cuda-drivers "$version" "$([ "$branch" -ge 615 ] || echo "nvidia-headless$b-open (= $version)")"
}

kernel() { # kernel VERSION ABI
    package "linux-image-$2" "$1" ""
    package "linux-headers-$2" "$1" ""
    package "linux-image-$flavour" "$1" "linux-image-$2 (= $1)"
    package "linux-headers-$flavour" "$1" "linux-headers-$2 (= $1)"
}

for version in "$@"; do driver "$version"; done
kernel 6.1.90-1 "6.1.0-21-$flavour"
kernel 6.1.99-1 "6.1.0-22-$flavour"
kernel 6.1.999-1 "6.1.0-99-$flavour"
mkdir -p "$build/dkms/usr/sbin"
cat >"$build/dkms/usr/sbin/dkms" <<'DKMS'
#!/bin/sh
# dkms autoinstall -k KERNEL: "builds" by writing the version where the module would be
version=$(ls /usr/src | sed -n 's/^nvidia-//p' | head -n 1)
[ ! -e "/etc/dkms-fails-on-$3" ] || { mkdir -p "/var/lib/dkms/nvidia/$version/build"; echo "error: implicit declaration of function 'in_irq'" >"/var/lib/dkms/nvidia/$version/build/make.log"; echo "Error! Bad return status for module build" >&2; exit 10; }
mkdir -p "/lib/modules/$3/updates/dkms" && echo "$version" >"/lib/modules/$3/updates/dkms/nvidia.ko"
[ ! -e /etc/nvidia-fs-fails ] || { echo "Error! Bad return status for module nvidia-fs" >&2; exit 11; }
DKMS
chmod +x "$build/dkms/usr/sbin/dkms"
package dkms 99-1 "" "$build/dkms"
mkdir -p "$build/ctk/usr/bin"
cat >"$build/ctk/usr/bin/nvidia-ctk" <<'CTK'
#!/bin/sh
# nvidia-ctk cdi generate --output FILE: one GPU, and the library of the driver that runs
version=$(sed -n 's/.*x86_64  \([0-9.]*\) .*/\1/p' /proc/driver/nvidia/version)
cat >"$4" <<CDI
cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: all
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
containerEdits:
  mounts:
  - hostPath: /usr/bin/nvidia-smi
    containerPath: /usr/bin/nvidia-smi
    options: [ro, nosuid, nodev, bind]
  - hostPath: /usr/lib/libcuda.so.$version
    containerPath: /usr/lib/libcuda.so.$version
    options: [ro, nosuid, nodev, bind]
CDI
CTK
chmod +x "$build/ctk/usr/bin/nvidia-ctk"
package nvidia-container-toolkit 1.18.0-1 "" "$build/ctk"

package cuda-toolkit-13-0 13.0.2-1 ""

cd $repo
apt-ftparchive packages . >Packages
export GNUPGHOME=/srv/gnupg
if [ ! -d $GNUPGHOME ]; then
    mkdir -m 700 $GNUPGHOME
    gpg --batch --quiet --passphrase '' --quick-generate-key nvidia@example.org rsa2048 sign never
fi
apt-ftparchive -o APT::FTPArchive::Release::Origin=NVIDIA release . >Release.new && mv Release.new Release
gpg --batch --yes --quiet --clearsign -o InRelease Release
gpg --armor --export >key.pub
gpg --with-colons --list-keys | sed -n 's/^fpr:*\([0-9A-F]*\):/\1/p' | head -n 1 >fingerprint

# The kernel's side: two kernels, and a module that is loaded at boot from where dkms puts it.
mkdir -p "/lib/modules/6.1.0-21-$flavour" "/lib/modules/6.1.0-22-$flavour"
cat >/usr/local/bin/modinfo <<'MODINFO'
#!/bin/sh
# modinfo -F FIELD FILE, or modinfo -k KERNEL -F FIELD nvidia
case $1 in -k) field=$4 file=/lib/modules/$2/updates/dkms/nvidia.ko ;; *) field=$2 file=$3 ;; esac
case $field in version) cat "$file" ;; license) echo "Dual MIT/GPL" ;; esac
MODINFO
sed "s/@FLAVOUR@/$flavour/" >/usr/local/sbin/load-nvidia <<'LOAD'
#!/bin/sh
module=/lib/modules/6.1.0-22-@FLAVOUR@/updates/dkms/nvidia.ko
[ -e $module ] && [ -e /etc/modprobe.d/glmstead-nouveau.conf ] || exit 0
[ -e /dev/nvidia0 ] || mknod /dev/nvidia0 c 10 229 # fuse's: outside of what a container may open
mountpoint -q /proc/driver || mount -t tmpfs none /proc/driver
mkdir -p /proc/driver/nvidia
echo "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  $(cat $module)  Release Build  (test)" >/proc/driver/nvidia/version
LOAD
chmod +x /usr/local/bin/modinfo /usr/local/sbin/load-nvidia
printf '[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nExecStart=/usr/local/sbin/load-nvidia\n[Install]\nWantedBy=sysinit.target\n' \
    >/etc/systemd/system/load-nvidia.service
printf '[Service]\nWorkingDirectory=/srv/repo\nExecStart=/usr/bin/python3 -m http.server 8099\n[Install]\nWantedBy=multi-user.target\n' \
    >/etc/systemd/system/repo.service
systemctl daemon-reload
systemctl enable --quiet --now repo.service load-nvidia.service
rm -rf "$build"
