/**
 * Confines a program by Landlock, where no namespaces can be made: a script for perl, as wrapper-in-perl.ts is. It is the
 * keeper of one program. It stays outside of what confines the program, so that the program can neither signal nor trace it,
 * and every process that the program leaves behind becomes its child (a subreaper): it ends them, and then itself.
 *
 * It talks to the daemon at fd 3 as the first process of a namespace does (prepared-child.ts). Its options: `--read`,
 * `--write`, `--use` (a device) and `--list` with a path each, `--net`, `--chdir`, `--seccomp`.
 *
 * Order: the rules, each with the file that is at its path now; the request and its answer; a child, which gives up the
 * rights of root, the right to gain any, and what no rule permits, and becomes the program. It needs Linux 6.12 (Landlock 6):
 * before that a program could signal every process of its user.
 *
 * TERM ends everything, also that of the kernel when the daemon has died. It and CHLD are waited for (rt_sigtimedwait),
 * never handled, so that none comes between a look and a wait.
 */

const NUMBERS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: { prctl: 157, capset: 126, mask: 14, await: 128, setsid: 112, dup3: 292 },
  arm64: { prctl: 167, capset: 91, mask: 135, await: 137, setsid: 157, dup3: 24 },
};

const COMMON: Readonly<Record<string, number>> = {
  ...{ close_range: 436, openat2: 437, ruleset: 444, add_rule: 445, restrict: 446 },
};

/** undefined: the calls of this machine are not known. */
export function landlockInPerl(arch: string): string | undefined {
  const numbers = NUMBERS[arch];
  if (numbers === undefined) return undefined;
  const list = Object.entries({ ...COMMON, ...numbers }).map(([name, number]) => `${name}=>${number}`);
  return `my %N = (${list.join(",")});${SCRIPT}`;
}

/**
 * The rights are those of linux/landlock.h: 1 execute, 2 write, 4 read, 8 list; 0x3fb0 remove, make (no devices) and move;
 * 0x4000 truncate, 0x8000 control a device. Of a file only 0xc007 can be given. A path that is a link, or behind one, gets
 * no rule: the profile has real paths, so something was put in its place.
 */
const SCRIPT = String.raw`
$SIG{__WARN__} = sub {};
my %rights = (read => 0xd, write => 0x77bf, use => 0xc006, list => 8);
my ($cwd, $filter, $has_net, @rules) = ("/", -1, 0);
# before any file of ours is opened
my ($has_channel, $has_outputs) = map { -e "/proc/self/fd/$_" } 3, 5;

sub fail { print STDERR "sandbox: $_[0]: $!\n"; exit 1 }
sub call {
  my ($what, $name, @words) = @_;
  my $got = syscall($N{$name}, @words);
  $got < 0 and fail($what);
  $got;
}
while (defined(my $word = shift @ARGV)) {
  last if $word eq "--";
  if ($word =~ /^--(read|write|use|list)$/) { push @rules, [$rights{$1}, shift @ARGV] }
  elsif ($word eq "--chdir") { $cwd = shift @ARGV }
  elsif ($word eq "--seccomp") { $filter = 0 + shift @ARGV }
  elsif ($word eq "--net") { $has_net = 1 }
  else { $! = 22; fail("option $word") }
}

call("tie it to its parent", "prctl", 1, 15, 0, 0, 0);
call("adopt what the program leaves", "prctl", 36, 1, 0, 0, 0);
(my $version = syscall($N{ruleset}, 0, 0, 1)) < 0 and fail("Landlock");
if ($version < 6) { $! = 95; fail("Landlock of version $version, too old") }
my $handled = pack("Q3", 0xffff, $has_net ? 0 : 3, 3);
my $ruleset = call("make a ruleset", "ruleset", $handled, 24, 0);
my $how = pack("Q3", 0x280000, 0, 4);
for (@rules) {
  my ($rights, $path) = @$_;
  my $fd = syscall($N{openat2}, -100, $path, $how, 24);
  if ($fd < 0) { $! == 2 || $! == 13 || $! == 20 || $! == 40 ? next : fail($path) }
  my $has = $rights & (-d "/proc/self/fd/$fd" ? 0xffff : 0xc007);
  my $rule = pack("Q l", $has, $fd);
  if ($has) { call("make a rule for $path", "add_rule", $ruleset, 1, $rule, 0) }
  call("close", "close_range", $fd, $fd, 0);
}
# its streams may be pipes that had a name: it may open them again
for my $fd (0, $has_outputs ? (5, 6) : (1, 2)) { my $rule = pack("Q l", 0x6, $fd); syscall($N{add_rule}, $ruleset, 1, $rule, 0) }
my $program = "";
if ($filter >= 0) {
  open(my $file, "<&=", $filter) or fail("filter");
  while (1) { my $got = sysread($file, $program, 65536, length $program); defined $got or fail("filter"); $got or last }
  close($file);
}

my $channel;
if ($has_channel) {
  open($channel, "+<&=", 3) or fail("channel");
  syswrite($channel, "\n") or exit 125;
  my $said = "";
  while (1) { my $got = sysread($channel, $said, 65536, length $said); defined $got or exit 125; $got or last }
  $said eq "" and exit 125;
  my ($count, @lines) = split /\n/, $said, -1;
  if ($count ne "") {
    @ARGV = ();
    for (1 .. $count) { my $of = shift @lines; push @ARGV, join("\n", splice(@lines, 0, $of)) }
    @lines == 1 && $lines[0] eq "" or exit 125;
  }
}
# TERM and CHLD wait from here on; what else a terminal or a group may send is not for the keeper
my $waited = pack("Q", 1 << 14 | 1 << 16);
syscall($N{mask}, 0, $waited, 0, 8);
$SIG{$_} = "IGNORE" for my @ignored = qw(HUP INT QUIT USR1 USR2 PIPE ALRM);
defined $channel and (syswrite($channel, ".\n") or exit 125);

defined(my $first = fork) or fail("fork");
if ($first == 0) {
  $SIG{$_} = "DEFAULT" for @ignored;
  syscall($N{mask}, 1, $waited, 0, 8);
  call("tie it to its keeper", "prctl", 1, 9, 0, 0, 0);
  call("make a session", "setsid");
  chdir($cwd) or fail($cwd);
  for my $fd ($has_outputs ? (1, 2) : ()) { call("give it its output", "dup3", $fd + 4, $fd, 0) }
  for (my $right = 0; $> == 0 && syscall($N{prctl}, 24, $right, 0, 0, 0) == 0; $right++) {}
  my ($header, $none) = (pack("L2", 0x20080522, 0), pack("L6", (0) x 6));
  call("drop all rights", "capset", $header, $none);
  call("gain no rights", "prctl", 38, 1, 0, 0, 0);
  call("confine it", "restrict", $ruleset, 0);
  my $loaded = pack("S x6 P", length($program) / 8, $program);
  $filter < 0 or call("install the filter", "prctl", 22, 2, $loaded, 0, 0);
  call("close", "close_range", 3, 0xffffffff, 0);
  exec { $ARGV[0] } @ARGV;
  my $code = $! == 2 ? 127 : 126;
  print STDERR "sandbox: $ARGV[0]: $!\n";
  exit $code;
}
close(STDIN);
close(STDOUT);
open(STDERR, ">", "/dev/null");
for my $fd (5, 6) { call("close", "close_range", $fd, $fd, 0) if $has_outputs }

my ($code, $is_over, @steps) = (undef, 0, qw(.01 .03 .06 TERM .01 .03 .06 .1 .1 .1 .1));
sub below {
  my @all = ($$);
  for (my $at = 0; $at < @all; $at++) {
    opendir(my $threads, "/proc/$all[$at]/task") or next;
    for my $thread (readdir $threads) {
      open(my $file, "<", "/proc/$all[$at]/task/$thread/children") or next;
      push @all, split(/ /, join("", <$file>));
    }
  }
  shift @all;
  @all;
}
sub wait_for {
  my $time = defined $_[0] ? pack("q2", 0, $_[0] * 1e9) : 0;
  my $got = syscall($N{await}, $waited, 0, $time, 8);
  $is_over = 1 if $got == 15;
  $got >= 0;
}
# false: nothing is left
sub reap {
  while ((my $pid = waitpid(-1, 1)) != 0) {
    return 0 if $pid < 0;
    $code = $? & 127 ? 128 + ($? & 127) : $? >> 8 if $pid == $first;
  }
  1;
}
while (reap()) {
  last if $is_over;
  if (!defined $code) { wait_for(); next }
  defined(my $step = shift @steps) or last;
  if ($step eq "TERM") { kill "TERM", below() }
  # a child that ends cuts no time: the next look is soon enough
  else { wait_for($step) }
}
for (my $round = 0; reap(); $round++) {
  my @left = below();
  # what is stopped starts nothing: without that, one that forks without end would win
  kill "STOP", @left if $round < 16;
  kill "KILL", @left if $round > 2;
  wait_for(.002) if $round > 2;
}
$is_over and $code = 137;
defined $channel and syswrite($channel, "$code\n");
exit $code;
`;
