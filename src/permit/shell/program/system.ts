/** Programs that inspect the machine, its processes and its files. */
import { commands } from "./operand-judges.ts";
import type { ProgramSpec } from "./option-table.ts";

export const SYSTEM: readonly ProgramSpec[] = [
  {
    names: "date gdate",
    plain:
      "-d|--date= -u|--utc|--universal -I|--iso-8601=? -R|--rfc-email --rfc-3339= -r|--reference= --debug --resolution --help --version",
    writes: "-s|--set=",
    reads: "-f|--file=",
    operands: commands(/^\d{8,}(?:\.\d+)?$/),
  },
  {
    names: "hostname domainname dnsdomainname nisdomainname",
    plain:
      "-a|--alias -A|--all-fqdns -d|--domain -f|--fqdn|--long -i|--ip-address -I|--all-ip-addresses -s|--short -y -V -h",
    writes: "-b|--boot",
    reads: "-F|--file=",
    operands: commands(/./),
  },
  {
    names: "strace ltrace dtruss truss",
    stops: true,
    plain:
      "-f -ff -c -C -q -qq -r -t -tt -ttt -T -v -x -xx -y -yy -k -i -s= -e= -O= -S= -P= -a= -n= -l= -u= -h -V",
    writes: "-o|--output=",
    starts: "-E|--env= -p|--attach= -D -b= -I= -F|--config= --inject= -X=",
  },
  {
    names: "gdb lldb rust-gdb cuda-gdb rr",
    plain:
      "-q|-quiet|--quiet -batch|--batch -nx|-n|--nx -nh -v|--version|-version -h|--help -silent --silent -tui -nw",
    style: "word",
    starts:
      "-ex= --ex= -iex= --iex= -eval-command= -init-eval-command= -x= -command= -ix= -init-command= -p= -pid= -args -s= -o= -S= -O= -k= -K= -l= -b -n= -w -i= -interpreter= -d= -P -R= -source= -one-line= -wait-for -attach-pid=",
    reads:
      "-c= -core= -symbols= -e= -exec= -data-directory= -directory= -cd= -early-init-command= -f= -a= -r",
    writes: "-write -statistics -repl=? -tty= -t=",
  },
  {
    names: "perf bpftrace valgrind gprof",
    plain: "-h|--help -v -q|--quiet --version -g -F= -e= -a -p= -t=",
    starts:
      "-c= --call-graph= --db-command= --tool= --extra-debuginfo-path= --log-socket= --unsafe --include= -I= --trace-children=? -k= --script= -s= --stdio-color=",
    writes:
      "-o|--output= --log-file= --xml-file= --massif-out-file= --callgrind-out-file= --cachegrind-out-file= --dhat-out-file= --gen-suppressions= --append",
    reads: "--suppressions= -i|--input= --vmlinux= --kallsyms= --symfs=",
  },
  {
    names:
      "ps top htop pgrep pidof pidwait pstree lsof fuser ss netstat vmstat iostat free uptime w who last lastlog mpstat sar iotop atop",
    plain:
      "-a -e -f -u= -x -l -p= -o= -n -t -i=? -s -h -m -d= -b -c -w -v -A -C= -g= -q= -r -T -L -M -S -V -H -F -N -y",
    writes: "-k|--kill -K|--kill -W -D|--diag=",
    reads: "--pidfile=",
  },
  {
    names: "dmesg",
    plain:
      "-H|--human -T|--ctime -w|--follow -l|--level= -f|--facility= -k|--kernel -u|--userspace -x|--decode -t|--notime -r|--raw -L|--color=? -J|--json -P|--nopager -s= -d -e -W -S -p --since= --until= -h|--help -V|--version",
    writes: "-c|--read-clear -C|--clear -D|--console-off -E|--console-on -n|--console-level=",
    reads: "-F|--file= -K|--kmsg-file=",
  },
  {
    names: "mount umount losetup",
    plain:
      "-l|--show-labels -v|--verbose -h|--help -V|--version -n --fake -j|--associated= -a|--all -J|--json -O=",
    starts: "-t|--types= -i|--internal-only --helper=",
    writes:
      "-o|--options= -B|--bind -R|--rbind -M|--move --make-shared --make-private -f|--find|--force -d|--detach -D|--detach-all -P|--partscan --mkdir=? -r -w|--rw|--read-write -c -s",
    reads: "-T|--fstab= -L= -U= --source=",
    moves: "-N|--namespace= --target= --target-prefix= --root=",
  },
  {
    names: "crontab at batch",
    plain: "-l -V -q=",
    starts: "-e -i -f= -t= -m",
    writes: "-r -d",
    moves: "-u= -c=",
  },
  {
    names: "screen tmux dtach zellij abduco",
    starts:
      "-X= -c= -s= -S= -e= -d -m -D -A -a= -E -l= --command= -p= -x= -Q= -L= --layout= --new-session-with-layout=",
    reads: "-f= --config= --config-dir=",
    writes: "-Logfile= --data-dir=",
    commands: {
      "list-sessions|ls list-windows|lsw list-panes|lsp list-clients|lsc list-keys|lsk list-commands|lscm list-buffers|lsb show-options|show display-message|display capture-pane|capturep has-session|has info|server-info show-messages|showmsgs show-environment|showenv show-hooks":
        {},
      "new-session|new new-window|neww split-window|splitw send-keys|send run-shell|run if-shell|if pipe-pane|pipep respawn-pane|respawnp respawn-window|respawnw source-file|source set-hook set-option|set setw|set-window-option display-popup|popup command-prompt confirm-before|confirm bind-key|bind save-buffer|saveb load-buffer|loadb attach-session|attach kill-server kill-session kill-window kill-pane paste-buffer|pasteb set-environment|setenv display-menu|menu wait-for|wait copy-mode start-server|start choose-tree lock-server|lock":
        { deed: "starts" },
    },
    abbreviates: true,
    isClosed: true,
  },
  {
    names: "watch entr inotifywait watchexec nodemon chokidar",
    starts: "-x|--exec= -s|--shell= -c|--command= --shell= -r -p -z --exec-map= -n",
    reads: "--config= --fromfile= -@= --project-origin= --filter-file= --env-file=",
    writes: "-o|--outfile= --socket= -d|--daemon --signal= --emit-events-to=",
    moves: "-C= --workdir|--cwd=",
  },
  {
    names: "docker-machine vagrant-ssh xdg-open open start gio dbus-send gdbus qdbus",
    starts: "-a= -b= -e --args --dest= --method= --object-path= -n= -g -R",
  },
  {
    names: "setfacl getfacl chattr lsattr chmod chown chgrp",
    plain:
      "-R|--recursive -v|--verbose -c|--changes -f|--silent|--quiet -h|--no-dereference -a -d -t -n -p -e -E -P -L -H -l --preserve-root --no-preserve-root --from= -m= -x= -b -k",
    reads: "--reference= --restore= -M= -X= --set-file=",
  },
  {
    names: "rm rmdir unlink shred truncate mkdir touch",
    plain:
      "-f|--force -i -I --interactive=? -r|-R|--recursive -d|--dir -v|--verbose --one-file-system --no-preserve-root --preserve-root=? -p|--parents -m|--mode= -a -c|--no-create -h|--no-dereference -t= -s|--size= -o -z|--zero -u|--remove=? -n|--iterations= -x|--exact --ignore-fail-on-non-empty",
    reads: "--random-source= --date=",
  },
  {
    names: "make-man lp lpr lpstat cups",
    plain: "-d= -n= -o= -P= -# -p -t -a -r -l",
    connects: "-h= -H= -E -U=",
  },
  {
    names: "useradd usermod userdel groupadd groupmod passwd chpasswd chsh chfn",
    plain: "-S|--status -h|--help",
    writes:
      "-s|--shell= -d|--home|--home-dir= -e= -p|--password= -G|--groups= -u= -g= -k|--skel= -m -b= -K= -D|--defaults",
    moves: "-R|--root= -P|--prefix=",
  },
  {
    names: "sysctl modprobe insmod rmmod lsmod modinfo kmod",
    plain:
      "-a|--all -n|--values|--dry-run -N|--names -e|--ignore -r|--pattern= -v|--verbose -q|--quiet -D -c -F|--field= -0 -V|--version -h|--help",
    writes: "-w|--write -p|--load=? --system -i|--ignore-install -f|--force",
    reads: "-C|--config= -d|--dirname= -b|--basedir=",
    operands: commands(/=/),
  },
  {
    names: "claude codex gemini aider cursor-agent goose opencode crux llm",
    starts:
      "--dangerously-skip-permissions --permission-mode= --allowedTools= --allowed-tools= --mcp-config= --yolo -y --full-auto --allow= --enable-auto-mode --tool= --approval-mode= --sandbox= -s= --ask-for-approval= -a= --dangerously-bypass-approvals-and-sandbox -c|--config= --test-cmd= --lint-cmd= --auto-test --yes --yes-always --yes --settings= --append-system-prompt= --system-prompt= --trust --functions= --model=",
    reads: "--add-dir= --env-file= --load= --plugin-dir=",
    writes: "--output-last-message= -o=",
    moves: "-C|--cd= --cwd=",
  },
];
