/** Programs that reach other machines. */
import { commands, responseFiles } from "./operand-judges.ts";
import type { ProgramSpec } from "./option-table.ts";

export const NETWORK: readonly ProgramSpec[] = [
  {
    names: "ssh slogin autossh",
    stops: true,
    plain: "-4 -6 -a -C -f -G -g -k -n -N -q -T -t -v -V -y -b= -c= -m= -p= -l= -e= -Q= -B= -O= -x",
    starts: "-o= -F= -I= -S= -J= -E= -w= -X -Y -P=",
    reads: "-i=",
    connects: "-L= -R= -D= -W= -A -K -M -s",
    operands: commands(/^-/),
  },
  {
    names: "scp sftp rcp",
    plain: "-3 -4 -6 -A -B -C -O -p -q -r -R -T -v -a -f -N -c= -l= -P= -X=",
    starts: "-o= -F= -S= -D= -J= -s= -b= -I=",
    reads: "-i=",
  },
  {
    names: "ssh-keygen ssh-add ssh-agent ssh-copy-id ssh-keyscan sshpass mosh sshfs",
    plain: "-l -v -q -B -y -E= -t= -p= -4 -6 -H -T= -L -c",
    starts: "-D= -P= -w= -s= -o= -e= -F= --ssh= --client= --server= --predict= --local -a= -d -A",
    writes: "-f= -N= -R= -k -K= -r= -u -I= -M= -Y= -h -z= -V= -n= -O= -C= -i= -X= -x",
    reads: "-S=",
  },
  {
    names: "curl",
    plain: `-s|--silent -S|--show-error -L|--location -f|--fail --fail-with-body -i|--include|--show-headers -I|--head -v|--verbose -k|--insecure -4|--ipv4 -6|--ipv6 -H|--header= -A|--user-agent=
      -e|--referer= -m|--max-time= --connect-timeout= --retry= --retry-delay= --retry-max-time= --compressed -G|--get -g|--globoff -N|--no-buffer -#|--progress-bar --http1.1 --http2 --http3
      -V|--version -h|--help=? --max-redirs= -r|--range= -w|--write-out= --tlsv1.2 --tlsv1.3 -0 -1 -2 -3 --no-progress-meter -j --limit-rate= -z|--time-cond= --path-as-is --raw -Z|--parallel`,
    starts: "--engine= --proto-redir= --krb=",
    reads:
      "-K|--config= -n|--netrc --netrc-optional --netrc-file= --cacert= --capath= -E|--cert= --key= --pass= -b|--cookie= --proxy-cacert= --hsts= --variable= --expand-url= -q|--disable",
    writes:
      "-o|--output= -O|--remote-name -J|--remote-header-name --remote-name-all --output-dir= --create-dirs -D|--dump-header= -c|--cookie-jar= --trace= --trace-ascii= --trace-config= --stderr= --etag-save= --libcurl= --alt-svc= -C|--continue-at= --skip-existing --no-clobber --ssl-sessions=",
    connects:
      "-d|--data= --data-raw= --data-binary= --data-urlencode= --data-ascii= --json= -F|--form= --form-string= -T|--upload-file= -X|--request= -u|--user= -x|--proxy= -U|--proxy-user= --preproxy= --socks4= --socks4a= --socks5= --socks5-hostname= --url-query= --unix-socket= --abstract-unix-socket= --interface= --resolve= --connect-to= --dns-servers= --doh-url= -Q|--quote= -P|--ftp-port= --mail-from= --mail-rcpt= --url= -t|--telnet-option= --proxy1.0= --oauth2-bearer= --aws-sigv4= --delegation= --location-trusted --haproxy-protocol --request-target= -a|--append",
  },
  {
    names: "wget wget2",
    plain: `-q|--quiet -v|--verbose -nv|--no-verbose -S|--server-response --spider -t|--tries= -T|--timeout= -w|--wait= --waitretry= -4|--inet4-only -6|--inet6-only --no-check-certificate -U|--user-agent=
      -V|--version -h|--help -d|--debug --progress= --show-progress --max-redirect= -c|--continue -N|--timestamping --no-cache --no-cookies -l|--level= -np|--no-parent -r|--recursive -R= -k -p -E -H --limit-rate= -e-no`,
    starts: "--use-askpass= -e|--execute= --plugin= --local-plugin= --filter-urls",
    reads:
      "-i|--input-file= --config= --load-cookies= --ca-certificate= --ca-directory= --certificate= --private-key= -B|--base= --input-metalink= --crl-file= --random-file= --egd-file= --hsts-file=",
    writes:
      "-O|--output-document= -o|--output-file= -a|--append-output= -P|--directory-prefix= --save-cookies= --warc-file= --warc-tempdir= --rejected-log= -x|--force-directories --content-disposition -b|--background -K|--backup-converted --backups=? -nc --unlink --adjust-extension",
    connects:
      "--post-data= --post-file= --body-data= --body-file= --method= --header= --user= --password= --http-user= --http-password= --proxy-user= --proxy-password= --bind-address= --dns-servers= --ask-password",
  },
  {
    names: "http https httpie xh",
    plain:
      "-v|--verbose -h|--headers -b|--body -p|--print= -f|--form -j|--json --pretty= -s|--style= -F|--follow --timeout= --check-status --ignore-stdin -q|--quiet",
    writes: "-o|--output= -d|--download -c|--continue --session= --session-read-only= --download=",
    reads: "--cert= --cert-key= --verify= --ssl= -A= -a|--auth= --config-dir=",
    connects: "--proxy= --raw= --multipart --compress -x --unix-socket=",
    operands: commands(/@|^(?:POST|PUT|PATCH|DELETE)$/i),
  },
  {
    names: "aria2c axel lftp ncftp ftp tftp",
    plain: "-q|--quiet -v|--version -x= -s= -j= -n -4 -6",
    starts:
      "--on-download-complete= --on-download-start= --on-download-stop= --on-download-error= --on-download-pause= --on-bt-download-complete= -e= -c= --rpc-listen-port= --enable-rpc=? -f=",
    reads: "-i|--input-file= --conf-path= --load-cookies= --rcfile=",
    writes:
      "-o|--out|--output= -d|--dir= -l|--log= --save-session= --save-cookies= --dht-file-path= -D|--daemon=?",
  },
  {
    names: "nc ncat netcat socat telnet nmap",
    starts:
      "-e|--exec= -c|--sh-exec= --lua-exec= --script= --script-args= --datadir= --servicedb= --script-updatedb",
    writes: "-o|--output= -oN= -oX= -oG= -oA= -oS= --append-output -lf= -r= -x|--hex-dump= --stylesheet= -L=",
    connects: "-l|--listen -x= -X= -U= --proxy= -k",
    reads: "-iL= --excludefile= --script-args-file= --ssl-key= --ssl-cert=",
    style: "word",
    operands: commands(/\b(?:exec|system|shell|open|create|gopen|openssl-listen|tcp\d?-listen)\b/i),
  },
  {
    names: "tcpdump tshark dumpcap wireshark ngrep tcpflow",
    plain:
      "-n -nn -v -vv -vvv -q -t -tttt -e -X -XX -A -x -c= -i= -s= -l -D|--list-interfaces -L -p -S -K -u -T= -Y= -f= -V",
    starts: "-z|--postrotate-command= --extcap= --lua-script= -o= -E= --relinquish-privileges= -Z=",
    writes: "-w= -G= -C= -W= -b= --export-objects= --print -O=",
    reads: "-r= -F= -V= -m= --filter-file= -H=",
  },
  {
    names: "openssl",
    style: "word",
    starts:
      "-engine= -provider= -provider-path= -config= -ssl_client_engine= -c= -starttls= -loadprovider= -pass= -passin= -passout= -cmd=",
    writes:
      "-out= -outform-out= -keyout= -writerand= -sess_out= -keylogfile= -certout= -CAserial= -CAcreateserial -keylog= -signer_out= -export -outdir= -msgfile= -new_certs_dir= -updatedb -gencrl -revoke= -early_data= -cert_out=",
    reads: "-rand= -CApath= -CAstore= -store=",
    connects: "-connect= -proxy= -accept= -port= -www -WWW -HTTP -host= -url=",
  },
  {
    names: "gpg gpg2 gpgv gpgsm gpgconf age sops pass",
    plain:
      "-v|--verbose -q|--quiet --list-keys -k --list-secret-keys -K --fingerprint --verify --version -h|--help --armor -a --with-colons --batch --no-tty --yes --list-packets --print-md= --list-sigs --check-sigs -d|--decrypt",
    starts:
      "--photo-viewer= --exec-path= --agent-program= --dirmngr-program= --keyboxd-program= --gpg-program= --gpgconf= --pinentry-mode= --show-photos --list-options= --edit-key --log-file= --load-extension= --passphrase-fd= --command-fd= --launch= --kill= --reload= --exec-env= --extra-digest-algo= --personal-cipher-preferences= -j= --plugin=",
    reads:
      "--homedir= --options= --keyring= --secret-keyring= --primary-keyring= --trustdb-name= --passphrase-file= --command-file= --config= -i|--identity= -R=",
    writes:
      "-o|--output= --import --gen-key --generate-key --full-generate-key --quick-generate-key= --delete-keys --delete-secret-keys --import-ownertrust --attribute-file= --status-file= --logger-file= --export-secret-keys --export-secret-subkeys --export-ssh-key= --use-embedded-filename --socket-name= -i|--in-place --create-socketdir",
    connects:
      "--keyserver= --keyserver-options= --recv-keys|--receive-keys --send-keys --search-keys --refresh-keys --fetch-keys --auto-key-locate= --auto-key-retrieve --locate-keys --locate-external-keys",
  },
  {
    names: "dig nslookup host drill",
    plain: "-t= -4 -6 -x= -p= -q= -c= -a -v -r -s -T -d -C -l -w -R= -N= -W= -V",
    reads: "-f= -k= -y= -b=",
    operands: commands(/^$/),
  },
  {
    names: "ping ping6 traceroute tracepath mtr arping",
    plain: "-c= -i= -W= -w= -n -q -v -4 -6 -s= -t= -I= -D -r -R -a -A -b -B -L -O -p= -Q= -S= -U -V -m= -f",
    reads: "-F|--filename=",
    writes: "--report-file=",
  },
  {
    names: "psql pg_dump pg_restore pg_dumpall createdb dropdb initdb pg_ctl pgbench pg_basebackup",
    plain:
      "-h|--host= -p|--port= -U|--username= -w|--no-password -W|--password -d|--dbname= -l|--list -A|--no-align -t|--tuples-only -q|--quiet -V|--version -x|--expanded -X|--no-psqlrc -a|--echo-all -e|--echo-queries -E|--echo-hidden -b|--echo-errors -H|--html -S -s -n|--schema= -P|--pset= -F|--field-separator= -R|--record-separator= -1|--single-transaction -z -0 --csv -?|--help=?",
    starts: "-c|--command= -v|--set|--variable= -T= -O= --wal-directory= --restore-target-wal= -m= --fork",
    reads: "-f|--file= -D|--pgdata= --use-list= --config-file=",
    writes: "-o|--output= -L|--log-file= -f= --tablespace-mapping= --waldir= --log=",
    connects: "--service=",
  },
  {
    names: "mysql mariadb mysqldump mysqladmin mycli",
    plain:
      "-h|--host= -P|--port= -u|--user= -p|--password=? -D|--database= -N|--skip-column-names -B|--batch -s|--silent -t|--table -E|--vertical -v|--verbose -V|--version -q|--quick -f|--force -C|--compress -A|--no-auto-rehash -n -?|--help --protocol= --ssl --no-data",
    starts:
      "-e|--execute= --pager=? --init-command= --plugin-dir= --default-auth= --binary-mode --delimiter= --system-command=? --editor=",
    reads:
      "--defaults-file= --defaults-extra-file= --defaults-group-suffix= --login-path= --local-infile=? --ssl-ca= --ssl-cert= --ssl-key= --load-data-local-dir= --source=",
    writes: "--tee= -r|--result-file= -T|--tab= --log-error= --histignore= --audit-log=",
    connects: "-S|--socket=",
  },
  {
    names: "sqlite3 sqlite duckdb litecli",
    style: "word",
    plain:
      "-header -noheader -csv -json -column -line -list -html -markdown -table -box -quote -readonly -bail -batch -echo -version -help -separator= -nullvalue= -newline= -ascii -tabs -stats -interactive",
    starts: "-cmd= -c= -unsafe -dot-command= -vfs= -s= -sqlar -A=",
    reads: "-init= -f=",
    writes: "-append -log= -zip -deserialize -maxsize= -output=",
    operands: commands(
      /^\s*\.|\b(?:load_extension|writefile|readfile|edit|fts3_tokenizer|attach|vacuum\s+into|copy|install|load|pragma)\b/i,
    ),
  },
  {
    names: "mongo mongosh mongodump mongorestore redis-cli cqlsh clickhouse-client influx etcdctl",
    plain:
      "-h= --host= -p= --port= -u= --username= --quiet --version --help -n= -d= --json -a= --raw --no-raw -q=",
    starts: "--eval= -e|--execute= --eval-file= --nodb --shell= --pager= --multiquery",
    reads:
      "-f|--file= --config-file= -c|--config= --tlsCertificateKeyFile= --sslCAFile= --cacert= --cert= --key= -x --pipe --cqlshrc= --user-file=",
    writes: "--rdb= -o|--out= --archive=? --functions-rdb= --log-level= --history_file=",
    operands: commands(
      /\.js$|^(?:eval|evalsha|config|module|save|bgsave|debug|script|slaveof|replicaof|function|migrate|shutdown|flushall|flushdb|monitor)$/i,
    ),
  },
  {
    names:
      "systemctl journalctl loginctl hostnamectl timedatectl machinectl localectl networkctl resolvectl busctl coredumpctl systemd-analyze systemd-run bootctl udevadm",
    plain:
      "--user --system -q|--quiet --no-pager -l|--full -a|--all -t|--type|--identifier= --state= -n|--lines= -f|--follow -u|--unit= -o|--output= -p|--property|--priority= --no-legend --plain -r|--reverse -b|--boot=? -k|--dmesg -x|--catalog --since= --until= -S= -U= -e|--pager-end -g|--grep= --utc --no-hostname --value -h|--help --version --list-boots --disk-usage --header --show-cursor --no-block --now -N|--fields -F|--field= -c|--cursor= --after-cursor= --no-full --no-wall --dry-run -j --json= --reverse --recursive --with-dependencies --show-types --failed -1 -2",
    starts: "-A|--analyze --debugger= --debugger-arguments= --editor --stdin= --pty -P|--pipe",
    reads: "-D|--directory= -i|--file= --credential= --job-mode= -E= --setenv= --preset-mode= --drop-in=",
    writes:
      "--vacuum-size= --vacuum-time= --vacuum-files= --rotate --flush --relinquish-var --smart-relinquish-var --sync --update-catalog --setup-keys --interval= --force --cursor-file= --new-id128 --verify-key= --unescape --firmware-setup=",
    moves: "-H|--host= -M|--machine= --root= --image= --namespace= --image-policy= --address=",
    isPersistent: true,
    commands: {
      "status show cat list-units list-unit-files list-sockets list-timers list-jobs list-dependencies list-machines list-paths list-automounts is-active is-enabled is-failed is-system-running get-default help show-environment list-sessions list-users list-seats session-status user-status show-session show-user blame critical-chain time verify timesync-status show-timesync list-timezones list lldp query statistics dns domain tree monitor introspect dump calendar security info unit-paths whoami":
        {},
      "start stop restart reload try-restart reload-or-restart kill freeze thaw isolate enable disable reenable preset mask unmask daemon-reload daemon-reexec reset-failed poweroff reboot halt suspend hibernate rescue emergency exit default set-default soft-reboot kexec lock-session unlock-session activate terminate-session terminate-user kill-session kill-user enable-linger disable-linger set-hostname hostname set-time set-timezone set-ntp set-locale set-keymap up down renew reconfigure flush-caches reset-statistics log-level trigger settle control":
        {},
      "edit debug gdb login shell clone bind copy-to copy-from import-tar pull-tar pull-raw set-property set-environment unset-environment import-environment link revert add-wants add-requires switch-root mount-image call set-property-unit service-log-level attach test test-builtin install update remove":
        { deed: "starts" },
    },
  },
  {
    names: "ip",
    plain:
      "-4 -6 -s|-stats|-statistics -d|-details -o|-oneline -j|-json -p|-pretty -br|-brief -c|-color -h|-human -V|-Version -f|-family= -r|-resolve -t|-timestamp -ts -a|-all -N -l=",
    style: "word",
    starts: "-b|-batch=",
    moves: "-n|-netns= -rc|-rcvbuf=",
    abbreviates: true,
    commands: {
      "address|addr|a link|l route|r|ro neighbour|neighbor|neigh|n rule maddress|m mroute tunnel tuntap xfrm tcp_metrics token monitor ntable addrlabel macsec mptcp nexthop sr stats help fou ila ioam l2tp netconf ntbl":
        {},
      netns: {
        commands: {
          "list show list-id identify pids monitor": {},
          "exec add delete attach set": { deed: "starts" },
        },
        abbreviates: true,
      },
      vrf: { commands: { "show identify pids": {}, exec: { deed: "starts" } }, abbreviates: true },
    },
  },
  {
    names: "iptables ip6tables nft ufw firewall-cmd tc ifconfig route brctl wg ethtool",
    starts: "-f|--file= -b= --modprobe= --dump-module-eeprom=",
    reads: "-I|--includepath= -D|--define=",
    operands: responseFiles,
  },
];
