/** Archives, compression, copies to other machines. */
import { responseFiles } from "./operand-judges.ts";
import type { ProgramSpec } from "./option-table.ts";

export const ARCHIVES: readonly ProgramSpec[] = [
  {
    names: "tar gtar bsdtar star",
    isDashless: true,
    ignoresEnd: true,
    plain: `-c|--create -x|--extract|--get -t|--list -r|--append -u|--update -A|--catenate|--concatenate -d|--diff|--compare --delete -f|--file= -v|--verbose
      -z|--gzip|--gunzip|--ungzip -j|--bzip2 -J|--xz -Z|--compress --zstd --lzma --lzip --lzop -a|--auto-compress -p|--preserve-permissions|--same-permissions
      -k|--keep-old-files -m|--touch -o|--no-same-owner -O|--to-stdout -S|--sparse -w|--interactive|--confirmation -W|--verify -h|--dereference -l -n --exclude=
      --strip-components= --wildcards --no-wildcards --anchored --totals --format= --owner= --group= --mode= --mtime= --sort= -b|--blocking-factor= --numeric-owner
      --one-file-system --no-recursion --recursion -V|--label= -H= --show-transformed-names --transform|--xform= --help --version --quote --skip-old-files
      --overwrite --keep-newer-files --null --checkpoint=? --exclude-vcs --ignore-failed-read -R|--block-number -B|--read-full-records -s|--preserve-order --hard-dereference
      --exclude-backups --exclude-caches --xattrs --acls --selinux --no-overwrite-dir --no-same-permissions --delay-directory-restore --warning= --record-size= -i|--ignore-zeros`,
    starts:
      "-I|--use-compress-program= --use-compress-prog= --checkpoint-action= --to-command= --rsh-command= --rmt-command= -F|--info-script|--new-volume-script= -M|--multi-volume",
    writes:
      "-P|--absolute-names --index-file= --backup=? --suffix= --volno-file= --remove-files --unlink-first -U --recursive-unlink --overwrite-dir --keep-directory-symlink",
    reads:
      "-T|--files-from= -X|--exclude-from= -g|--listed-incremental= --exclude-ignore= --exclude-ignore-recursive= --exclude-tag= --add-file= -N|--newer= --options=",
    moves: "-C|--directory= --one-top-level=? -K|--starting-file= --chroot",
  },
  {
    names: "cpio pax",
    plain:
      "-i|--extract -o|--create -p|--pass-through -t|--list -v|--verbose -d|--make-directories -u|--unconditional -m|--preserve-modification-time -H|--format= -0|--null -c -B --quiet --help --version",
    starts: "--rsh-command= --rmt-command= -s=",
    writes: "-O= -f|--nonmatching= --to-stdout --absolute-filenames -w",
    reads: "-I= -E|--pattern-file= -F|--file=",
    moves: "-D|--directory=",
  },
  {
    names: "zip",
    plain:
      "-r -R -q|--quiet -v|--verbose -u|--update -f|--freshen -d|--delete -m|--move -j|--junk-paths -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -e|--encrypt -x|--exclude= -i|--include= -y|--symlinks -X|--no-extra -D|--no-dir-entries -h -F -A -l -z -g -k -o -S -P|--password= -n= -s= --recurse-paths",
    starts: "-T|--test -TT|--unzip-command=",
    writes: "-b|--temp-path= -O|--output-file|--out= -lf|--logfile-path= -la -li",
    reads: "-@|--names-stdin",
    ignoresEnd: true,
  },
  {
    names: "unzip zipinfo funzip",
    plain: "-l -t -v -z -q -o -n -j -a -aa -C -L -M -p -c -u -f -x -X -K -P= -qq -Z -1 -2 -h -m -s -T",
    writes: "-: -d= -W -V",
    ignoresEnd: true,
  },
  {
    names: "7z 7za 7zr p7zip rar unrar",
    style: "word",
    plain: "-y -r -bd -bb -t= -mx= -p= -ao= -ai= -ax= -x= -i= -slt",
    writes: "-o= -w= -sdel -si -so -v= -ad -op=",
    reads: "-scs= -ir=",
    starts: "-sfx= -m= -z=",
    operands: responseFiles,
  },
  {
    names:
      "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma pigz compress uncompress zcat xzcat brotli lzip lzop",
    plain:
      "-c|--stdout|--to-stdout -d|--decompress|--uncompress -k|--keep -f|--force -l|--list -t|--test -v|--verbose -q|--quiet -n|--no-name -N|--name -r|--recursive -1 -2 -3 -4 -5 -6 -7 -8 -9 -T|--threads= -e|--extreme --best --fast -h|--help -V|--version -z|--compress -S|--suffix=",
    starts: "--filelist= -D=",
    writes: "-o|--output= --output-dir-flat= --output-dir-mirror= --rm --patch-from=",
    reads: "--files=? --files0=? --filelist= --train",
  },
  {
    names: "rsync",
    ignoresEnd: true,
    plain: `-v|--verbose -q|--quiet -c|--checksum -a|--archive -r|--recursive -R|--relative -b|--backup -u|--update --inplace --append -d|--dirs -l|--links -L|--copy-links
      -k|--copy-dirlinks -K -H|--hard-links -p|--perms -A|--acls -X|--xattrs -o|--owner -g|--group -D -t|--times -O -J -S|--sparse -n|--dry-run -W|--whole-file -x|--one-file-system
      -B|--block-size= --existing --ignore-existing --delete --delete-before --delete-during --delete-after --delete-excluded --force --max-delete= --max-size= --min-size= --partial
      -P -m|--prune-empty-dirs --numeric-ids --timeout= --contimeout= -I|--ignore-times --size-only -y|--fuzzy -z|--compress --compress-level= -C|--cvs-exclude -f|--filter= -F --exclude=
      --include= -0|--from0 -s|--protect-args -i|--itemize-changes --out-format= --stats -8 -h|--human-readable --progress --info= --bwlimit= --list-only -E --chmod= --modify-window= -4 -6
      --suffix= --help --version -V --no-motd --super --fake-super --usermap= --groupmap= --chown= --no-perms --no-owner --no-group --mkpath`,
    starts:
      "-e|--rsh= --rsync-path= --daemon --remote-option= -M= --early-input= --trust-sender --sockopts= --iconv= --server --sender",
    writes:
      "--log-file= --log-file-format= --write-batch= --only-write-batch= --backup-dir= -T|--temp-dir= --partial-dir= --remove-source-files --remove-sent-files --copy-as= --write-devices --copy-devices --copy-unsafe-links --copy-dest= --link-dest= --compare-dest=",
    reads: "--read-batch= --files-from= --exclude-from= --include-from= --password-file= --config= --dparam=",
    connects: "--address= --port=",
  },
  {
    names: "rclone",
    plain:
      "-v|--verbose -q|--quiet -n|--dry-run -P|--progress --transfers= --checkers= --include= --exclude= --stats= -u|--update --size-only --checksum -h|--help --version",
    starts: "--password-command= --sftp-ssh= --metadata-mapper= --rc --sftp-server-command=",
    reads: "--config= --files-from= --filter-from= --include-from= --exclude-from= --files-from-raw=",
    writes:
      "--log-file= --backup-dir= --cache-dir= --temp-dir= --compare-dest= --copy-dest= --cpuprofile= --memprofile=",
    connects: "--http-url= --rc-addr= --webdav-url= --sftp-host=",
    isPersistent: true,
    commands: {
      "config mount serve rcd rc": { deed: "starts" },
      "copy sync move ls lsd lsl lsf lsjson cat check size delete purge mkdir rmdir about copyto moveto copyurl dedupe hashsum md5sum sha1sum tree version listremotes ncdu touch obscure link cleanup bisync rmdirs settier selfupdate archive cryptcheck cryptdecode authorize backend completion deletefile gendocs help nfsmount rcat test":
        {},
    },
  },
  {
    names: "restic borg duplicity rdiff-backup",
    plain:
      "-q|--quiet -v|--verbose -n|--dry-run --json --tag= --host= -h|--help --version --exclude= -e --progress --stats --list",
    starts:
      "--password-command= --rsh= --remote-path= -o|--option= --sftp.command= --rclone.program= --ssh-options= --remote-schema= --content-from-command --ssh-backend=",
    reads:
      "--repository-file= -p|--password-file= --exclude-file= --files-from= --exclude-from= --patterns-from= --cacert= --tls-client-cert=",
    writes: "-t|--target= --cache-dir= --log-file= --restore-path=",
    moves: "-r|--repo= --chroot",
    isPersistent: true,
  },
  {
    names: "cp mv install ln",
    plain:
      "-a|--archive -b -d -f|--force -i|--interactive -l|--link -L|--dereference -n|--no-clobber -P|--no-dereference -p -r -R|--recursive -s|--symbolic-link -T|--no-target-directory -u|--update=? -v|--verbose -x|--one-file-system --parents --preserve=? --no-preserve= --reflink=? --sparse= -H --attributes-only --strip-trailing-slashes -c -C -D -m|--mode= -o|--owner= -g|--group= -S|--suffix= --backup=? -t|--target-directory= -Z -F -h -w --relative",
    starts: "--strip-program= --strip",
  },
];
