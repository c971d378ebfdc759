#!/bin/sh
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
	systemd-sysusers weirline.conf
elif ! getent passwd weirline >/dev/null; then
	getent group weirline >/dev/null || groupadd --system weirline
	useradd --system --gid weirline --home-dir /var/lib/weirline --no-create-home --shell /usr/sbin/nologin weirline
fi
# The configuration may hold passphrases.
chgrp weirline /etc/weirline /etc/weirline/weirline.yaml
chmod 0750 /etc/weirline
chmod 0640 /etc/weirline/weirline.yaml
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	if [ -n "$2" ]; then
		systemctl try-restart weirline.service # an upgrade
	else
		systemctl enable --now weirline.service
	fi
fi
