#!/bin/sh
# Start condor_master in a private copy of a root folder. This script is the first process of mount and PID namespaces of its
# own (unshare --mount --pid --fork): the copy and all daemons end with it.
#   start.sh ROOT PLACE CONFIGURATION USER...    PLACE: an empty folder, over which the copy is mounted
# The folders in $FOLDERS, one a line, are seen in the copy too, under the same path, by all users.
set -eu
root=$1 place=$2 configuration=$3
shift 3
mount -t tmpfs -o mode=755 pool "$place"
mkdir "$place/changes" "$place/work" "$place/root"
mount -t overlay -o "lowerdir=$root,upperdir=$place/changes,workdir=$place/work" pool "$place/root"
cp "$configuration" "$place/configuration"
cd "$place/root"
mount -t proc proc proc
mount --bind /dev dev
mv ../configuration etc/condor/condor_config
echo "127.0.0.1 localhost pool.example.org pool" > etc/hosts
id=5001
for user; do
  sed -i "/^$user:/d" etc/passwd
  echo "$user:x:$id:$id::/home/$user:/bin/sh" >> etc/passwd
  mkdir -p "home/$user"
  chown "$id:$id" "home/$user"
  id=$((id + 1))
done
rm -rf pool tmp
mkdir tmp pool
chmod 1777 tmp
printf %s "${FOLDERS:-}" | while IFS= read -r folder || [ -n "$folder" ]; do
  mkdir -p ".$folder"
  mount --bind "$folder" ".$folder"
  above=$folder
  while above=$(dirname "$above"); [ "$above" != / ]; do chmod a+x ".$above"; done
done
for folder in run log lock spool execute cred tokens.d passwords.d; do mkdir "pool/$folder"; done
chroot . chown -R condor:condor /pool
chown -R 0:0 pool/passwords.d pool/tokens.d
chmod 1777 pool/lock
chmod 700 pool/tokens.d pool/passwords.d
# Not exec: a process that changes its user no longer ends with its parent.
chroot . condor_master -f
exit
