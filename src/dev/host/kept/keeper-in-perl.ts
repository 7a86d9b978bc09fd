/**
 * The first process of a sandbox that is kept for several commands (kept-sandbox.ts): a script for perl, as wrapper-in-perl.ts
 * is. For each command it makes one process, with a pid and an IPC namespace and mounts of /proc, /dev/pts and /dev/shm of its own,
 * before that command is known. It is to the command what the shell of namespace.ts is: its child becomes the program, and it tells how that
 * ended when nothing else is left. The keeper is in none of these namespaces: a command can neither see, signal, trace nor limit it, nor another
 * command. It has two rights, to make namespaces and to give up rights; a command has none.
 *
 * fd 3 is the socket on which it asks at its start and reports: `s ID PID`, a command was taken, `b ID`, its program begins, `c ID CODE`,
 * its exit code, when nothing of it is left, `e ID STATUS`, its first process has ended, of wait(2), and `x`, when it will start no
 * further one: of those that have not begun none will. At fd 5 the child that is to become the program receives its command, one a
 * message, parted by zero bytes: ID, working directory, number of words, words, environment; with the fds of the command's three
 * streams. fd 4 has the filter of system calls.
 */

import { findSystemProgram } from "../../program.ts";

const NUMBERS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: {
    clone: 56,
    mount: 165,
    prctl: 157,
    capset: 126,
    mask: 14,
    setsid: 112,
    dup3: 292,
    signalfd: 289,
    recvmsg: 47,
    kill: 62,
    exit_group: 231,
  },
  arm64: {
    clone: 220,
    mount: 40,
    prctl: 167,
    capset: 91,
    mask: 135,
    setsid: 157,
    dup3: 24,
    signalfd: 74,
    recvmsg: 212,
    kill: 129,
    exit_group: 94,
  },
};

/** The most bytes of a message. */
export const MESSAGE_BYTES = 65_536;

/** Where it has its script: as an argument, each command that lists processes would print all of it. */
const KEPT_IN = "KEEPER";
const LOADER = `$ENV{${KEPT_IN}} =~ /(.*)/s; eval $1; exit 125`;

let found: { readonly words: readonly string[] | undefined } | undefined;

/** The argv of the keeper; undefined: none can be had on this machine. Looked up once. */
export function keeperWords(): readonly string[] | undefined {
  found ??= { words: wordsFor(process.arch, findSystemProgram("perl")) };
  return found.words;
}

function wordsFor(arch: string, perl: string | undefined): readonly string[] | undefined {
  if (NUMBERS[arch] === undefined || perl === undefined) return undefined;
  return [perl, "-f", "-t", "-C0", "-e", LOADER];
}

/** What the environment of the keeper has beside the marks. */
export function keeperEnv(): Readonly<Record<string, string>> {
  const numbers = Object.entries({ close_range: 436, ...NUMBERS[process.arch] });
  const list = numbers.map(([name, number]) => `${name}=>${number}`);
  return { [KEPT_IN]: `my %N = (${list.join(",")});${SCRIPT}` };
}

/**
 * The namespaces are those of linux/sched.h (NEWNS, NEWIPC, NEWPID, and CHLD, 17), the mounts' flags those of linux/mount.h (RDONLY 1,
 * NOSUID 2, NODEV 4, NOEXEC 8), the rights SETPCAP, 8, and SYS_ADMIN, 21. CHLD is waited for as a descriptor, so that none comes
 * between a look and a wait. What is left of a command gets the time that namespace.ts gives it. The next process is made when a command
 * has ended, or another has come, or after a pause: not while one begins, which it would keep from the processor.
 */
const PAUSE_S = 0.005;
const SCRIPT = String.raw`
$SIG{__WARN__} = sub {};
$$ == 1 or exit 125;
my ($room, $most) = (${MESSAGE_BYTES}, 64);
my ($bytes, $with) = ("\0" x $room, "\0" x $most);
# each a text of its own, which stays where it is
vec($_, 0, 8) = 1 for $bytes, $with;
my $vector = pack("P Q", $bytes, $room);

sub call {
  my ($name, @words) = @_;
  my $got = syscall($N{$name}, @words);
  $got < 0 and do { print STDERR "sandbox: $name: $!\n"; exit 125 };
  $got;
}
my $filter = "";
open(my $file, "<&=", 4) or exit 125;
while (1) { my $got = sysread($file, $filter, 65536, length $filter); defined $got or exit 125; $got or last }
close($file);
call("close_range", 6, 0xffffffff, 0);
my $waited = pack("Q", 1 << 16);
call("mask", 0, $waited, 0, 8);
my $ended = call("signalfd", -1, $waited, 8, 0x80000);
open(my $ends, "<&=", $ended) or exit 125;
open(my $daemon, "+<&=", 3) or exit 125;
sub report { syswrite($daemon, "$_[0]\n") or exit 125 }
pipe(my $said, my $saying) or exit 125;
# the next command; nothing: none will come
sub received {
  my $header = pack("Q L x4 P Q P Q i x4", 0, 0, $vector, 1, $with, $most, 0);
  my $got = syscall($N{recvmsg}, 5, $header, 0x40000000);
  $got > 0 or return;
  my ($id, $cwd, $count, @words) = split /\0/, substr($bytes, 0, $got), -1;
  my @environment = splice(@words, $count);
  ([(unpack("Q l6", $with))[3 .. 5]], $id, $cwd, \@words, \@environment);
}

# all but its words is in place before they are known
sub program {
  my ($taken) = @_;
  call("mask", 1, $waited, 0, 8);
  my $loaded = pack("S x6 P", length($filter) / 8, $filter);
  call("prctl", 22, 2, $loaded, 0, 0);
  syswrite($saying, "\n") or exit 125;
  my ($streams, $id, $cwd, $words, $environment) = received() or exit 124;
  syswrite($_, "$id\n") or exit 125 for $saying, $taken;
  for my $fd (0 .. 2) { call("dup3", $streams->[$fd], $fd, 0) }
  report("b $id");
  call("close_range", 3, 0xffffffff, 0);
  %ENV = map { split /=/, $_, 2 } @$environment;
  chdir($cwd) and exec { $words->[0] } @$words;
  my ($what, $code) = chdir($cwd) ? ($words->[0], $! == 2 ? 127 : 126) : ($cwd, 126);
  print STDERR "sandbox: $what: $!\n";
  exit $code;
}
sub first {
  my @mounts = (["proc", "/proc", 15, ""], ["devpts", "/dev/pts", 10, "newinstance,ptmxmode=0666,mode=620"], ["tmpfs", "/dev/shm", 6, "mode=755"]);
  for (@mounts) { my ($type, $at, $flags, $options) = @$_; call("mount", $type, $at, $type, $flags, $options) }
  call("setsid");
  for my $right (8, 21) { call("prctl", 24, $right, 0, 0, 0) }
  call("prctl", 47, 4, 0, 0, 0);
  my ($header, $none) = (pack("L2", 0x20080522, 0), pack("L6", (0) x 6));
  call("capset", $header, $none);
  call("prctl", 4, 0, 0, 0, 0);
  pipe(my $took, my $taken) or exit 125;
  defined(my $program = fork) or exit 125;
  $program or program($taken);
  call("dup3", fileno $took, 4, 0);
  call("close_range", 5, 0xffffffff, 0);
  my $code;
  until (defined $code) {
    my $got = waitpid(-1, 0);
    $got < 0 and exit 125;
    $code = $? & 127 ? 128 + ($? & 127) : $? >> 8 if $got == $program;
  }
  open(my $ids, "<&=", 4) or exit 125;
  # nothing: it took no command
  chomp(my $id = <$ids> // exit $code);
  for my $pause (qw(.01 .03 .06 TERM .01 .03 .06 .1 .1 .1 .1)) {
    1 while waitpid(-1, 1) > 0;
    if (syscall($N{kill}, -1, 0) < 0) { report("c $id $code"); last }
    if ($pause eq "TERM") { syscall($N{kill}, -1, 15) }
    else { select(undef, undef, undef, $pause) }
  }
  # without the time that perl takes to tidy up
  syscall($N{exit_group}, $code);
}

my ($is_over, $is_asking, $heard, $next, $due, %id) = (0, 1, "");
sub prepare {
  undef $due;
  $next = syscall($N{clone}, 0x28020011, 0, 0, 0, 0);
  $next == 0 and first();
  $next > 0 or retire();
}
# it may have taken a command that nobody will start: none is taken after this, so that none is started that the daemon starts anew
sub retire {
  $is_asking and exit 125;
  $is_over = 1;
  call("close_range", 5, 5, 0);
  report("x");
}
sub hear {
  sysread($said, $heard, 4096, length $heard);
  while ($heard =~ s/^(.*)\n//) {
    if ($1 ne "") { $id{$next} = $1; report("s $1 $next"); $due = 1; next }
    $is_asking or next;
    # the daemon is there, and a first process can be made
    $is_asking = 0;
    report("");
    sysread($daemon, my $answer, 1) or exit 125;
    report(".");
  }
}
prepare();
until ($is_over && !%id) {
  my $ready = "";
  vec($ready, $_, 1) = 1 for $ended, fileno $said, $due ? 5 : ();
  my $count = select($ready, undef, undef, $due && ${PAUSE_S});
  $count < 0 and next;
  hear() if vec($ready, fileno $said, 1);
  prepare() if $due && !$is_over && ($count == 0 || vec($ready, 5, 1));
  vec($ready, $ended, 1) or next;
  sysread($ends, my $which, 4096);
  while ((my $pid = waitpid(-1, 1)) > 0) {
    my $status = $?;
    # what it said has come by now
    my $more = "";
    vec($more, fileno $said, 1) = 1;
    hear() if !$id{$pid} && select($more, undef, undef, 0) > 0;
    if (my $id = delete $id{$pid}) { report("e $id $status") }
    elsif ($status >> 8 == 124) { $is_over = 1 }
    else { retire() }
  }
  prepare() if $due && !$is_over;
}
`;
