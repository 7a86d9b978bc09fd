/**
 * A wrapper (wrapper.ts) for hosts without bubblewrap, or with one that lacks an option: a script for perl, which is
 * part of every Debian and Ubuntu. It makes the system calls itself, because mount(8) and unshare(1) would be a process
 * for each mount, and neither can install a filter of system calls. It needs Linux 5.12 (mount_setattr).
 *
 * Order: the namespaces; the ids; a child, which is the first process; a copy of the host's mounts, with the attributes
 * of the base, as the new root; the mounts of the options in their order, each taken from the old root and given its
 * attributes before it can be seen; the old root is left. Then, if the program may make no user namespaces, their number
 * is limited to the one that is entered last, which owns none of the mounts. Last, the rights and the filter.
 *
 * Paths are opened as if the old or the new root were the root (openat2, RESOLVE_IN_ROOT), so a link leads out of
 * neither.
 */

/** The numbers of the calls that differ between machines. */
const NUMBERS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: {
    ...{ openat: 257, mkdirat: 258, symlinkat: 266, fchdir: 81, pivot_root: 155, umount2: 166 },
    ...{ unshare: 272, setsid: 112, prctl: 157, capset: 126 },
  },
  arm64: {
    ...{ openat: 56, mkdirat: 34, symlinkat: 36, fchdir: 50, pivot_root: 41, umount2: 39 },
    ...{ unshare: 97, setsid: 157, prctl: 167, capset: 91 },
  },
};

/** undefined: the calls of this machine are not known. */
export function wrapperInPerl(arch: string): string | undefined {
  const numbers = NUMBERS[arch];
  if (numbers === undefined) return undefined;
  const list = Object.entries({ ...COMMON, ...numbers }).map(([name, number]) => `${name}=>${number}`);
  return `my %N = (${list.join(",")});${SCRIPT}`;
}

const COMMON: Readonly<Record<string, number>> = {
  ...{ open_tree: 428, move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432 },
  ...{ close_range: 436, openat2: 437, mount_setattr: 442 },
};

/**
 * perl passes a number as it is and a text as its address, so no number may have become a text. With -t it warns of
 * every word that comes from outside, which is all of them. The numbers are those of linux/mount.h (MOUNT_ATTR_RDONLY 1,
 * NOSUID 2, NODEV 4, NOEXEC 8), linux/sched.h, linux/prctl.h (PDEATHSIG 1, SECCOMP 22, CAPBSET_DROP 24, NO_NEW_PRIVS 38)
 * and linux/fcntl.h.
 */
const SCRIPT = String.raw`
$SIG{__WARN__} = sub {};
my ($PRIVATE, $NEWPID, $NEWUSER, $NEWNET) = (1 << 18, 0x20000000, 0x10000000, 0x40000000);
my ($CWD, $HERE, $DEEP, $PATH_ONLY) = (-100, 0x1000, 0x8000, 0x280000);
my %space = (user => $NEWUSER, net => $NEWNET, pid => $NEWPID, ipc => 0x8000000, uts => 0x4000000, "cgroup-try" => 0x2000000);
my ($spaces, $has, $cwd, $perms, $size, @todo) = (0x20000, {}, "/", "0755", 0);

sub fail { print STDERR "sandbox: $_[0]: $!\n"; exit 1 }
sub call {
  my ($what, $name, @words) = @_;
  my $got = syscall($N{$name}, @words);
  $got < 0 and fail($what);
  $got;
}
sub dies_with_parent { call("tie it to its parent", "prctl", 1, 9, 0, 0, 0) }

while (defined(my $word = shift @ARGV)) {
  last if $word eq "--";
  if ($word =~ /^--unshare-(.+)$/ && $space{$1}) { $spaces |= $space{$1} }
  elsif ($word =~ /^--(disable-userns|die-with-parent|new-session|as-pid-1)$/) { $has->{$1} = 1 }
  elsif ($word =~ /^--(cap-drop|seccomp)$/) { $has->{$1} = shift @ARGV }
  elsif ($word eq "--chdir") { $cwd = shift @ARGV }
  elsif ($word eq "--perms") { $perms = shift @ARGV }
  elsif ($word eq "--size") { $size = shift @ARGV }
  elsif ($word =~ /^--(bind|ro-bind|dev-bind|ro-bind-try|symlink)$/) { push @todo, [$1, shift @ARGV, shift @ARGV] }
  elsif ($word =~ /^--(dev|proc|remount-ro)$/) { push @todo, [$1, shift @ARGV] }
  elsif ($word eq "--tmpfs") {
    push @todo, ["tmpfs", shift @ARGV, $perms, $size];
    ($perms, $size) = ("0755", 0);
  }
  else { $! = 22; fail("option $word") }
}
my ($uid, $gid) = (0 + $>, 0 + (split / /, $))[0]);
$spaces |= $NEWUSER if $uid != 0;

sub put {
  my ($at, $path, $text) = @_;
  my $fd = call("open $path", "openat", $at, $path, 0x80001, 0);
  open(my $file, ">&=", $fd) or fail("open $path");
  defined(syswrite($file, $text)) or fail("write $path");
  close($file);
}
sub keep_ids {
  my ($at, $self) = @_;
  put($at, $self . "setgroups", "deny");
  put($at, $self . "uid_map", "$uid $uid 1\n");
  put($at, $self . "gid_map", "$gid $gid 1\n");
}

dies_with_parent() if $has->{"die-with-parent"};
call("make namespaces", "unshare", $spaces);
keep_ids($CWD, "/proc/self/") if $spaces & $NEWUSER;
if ($spaces & $NEWPID) {
  defined(my $first = fork) or fail("fork");
  if ($first) {
    close(STDIN);
    close(STDOUT);
    call("close", "close_range", 3, 0xffffffff, 0);
    1 while waitpid($first, 0) < 0 && $! == 4;
    exit($? & 127 ? 128 + ($? & 127) : $? >> 8);
  }
  dies_with_parent();
}
syscall($N{setsid}) if $has->{"new-session"};
if ($spaces & $NEWNET) {
  my ($socket, $up) = (undef, pack("a16 S x22", "lo", 1));
  socket($socket, 2, 2, 0) && ioctl($socket, 0x8914, $up) or fail("loopback");
  close($socket);
}

my $old = call("open /", "openat", $CWD, "/", $PATH_ONLY, 0);
my ($new, %of) = (-1);
sub attributes {
  my ($fd, $set, $propagation) = @_;
  my $wish = pack("Q4", $set, 0, $propagation || 0, 0);
  call("give a mount its attributes", "mount_setattr", $fd, "", $HERE | $DEEP, $wish, 32);
}
sub open_in {
  my ($root, $path) = @_;
  my ($how, $inside) = (pack("Q3", $PATH_ONLY, 0, 0x12), $path);
  $inside =~ s{^/+}{};
  $inside = "." if $inside eq "";
  return syscall($N{openat2}, $root, $inside, $how, 24);
}
sub copy_of {
  my ($path, $deep) = @_;
  my $fd = open_in($old, $path);
  $fd < 0 and return -1;
  call("copy the mount of $path", "open_tree", $fd, "", 0x80001 | $HERE | $deep);
}
sub fresh {
  my ($type, $attributes, %options) = @_;
  my $system = call("make a $type", "fsopen", $type, 1);
  for my $name (keys %options) { call("make a $type, $name", "fsconfig", $system, 1, $name, $options{$name}, 0) }
  call("make a $type", "fsconfig", $system, 6, 0, 0, 0);
  call("make a $type", "fsmount", $system, 1, $attributes);
}
sub place {
  my ($path, $is_folder) = @_;
  my ($at, $so_far, @names) = ($new, "", grep { $_ ne "" } split m{/}, $path);
  while (defined(my $name = shift @names)) {
    $so_far .= "/$name";
    my $next = open_in($new, $so_far);
    if ($next < 0) {
      if (@names || $is_folder) { call("make $so_far", "mkdirat", $at, $name, 0755) }
      else { call("make $so_far", "openat", $at, $name, 0x800c1, 0644) }
      $next = open_in($new, $so_far);
      $next < 0 and fail("open $so_far");
    }
    $at = $next;
  }
  $at;
}
sub attach {
  my ($fd, $path, $is_folder) = @_;
  call("mount on $path", "move_mount", $fd, "", place($path, $is_folder), "", 0x44);
}
sub link_to {
  my ($to, $folder, $name) = @_;
  call("link $folder/$name", "symlinkat", $to, place($folder, 1), $name);
}
my %do = (
  tmpfs => sub {
    my ($path, $mode, $bytes) = @_;
    attach(fresh("tmpfs", 6, mode => $mode, $bytes ? (size => $bytes) : ()), $path, 1);
  },
  proc => sub { attach($of{$_[0]} = fresh("proc", 14), $_[0], 1) },
  "remount-ro" => sub { attributes($of{$_[0]}, 1) },
  symlink => sub { $_[1] =~ m{^(.*)/([^/]+)$} or fail("link $_[1]"); link_to($_[0], $1, $2) },
  dev => sub {
    my $dev = $_[0];
    attach(fresh("tmpfs", 6, mode => "0755"), $dev, 1);
    for my $name (qw(null zero full random urandom tty)) {
      my $fd = copy_of("/dev/$name", 0);
      $fd < 0 and fail("/dev/$name");
      attach($fd, "$dev/$name", 0);
    }
    my %stream = (fd => "", stdin => "/0", stdout => "/1", stderr => "/2");
    link_to("/proc/self/fd$stream{$_}", $dev, "$_") for sort keys %stream;
    link_to("pts/ptmx", $dev, "ptmx");
    place("$dev/shm", 1);
    attach(fresh("devpts", 10, ptmxmode => "0666", mode => "620"), "$dev/pts", 1);
  },
);
attributes($old, 0, $PRIVATE);
for (@todo) {
  my ($what, @words) = @$_;
  if ($do{$what}) { $do{$what}->(@words); next }
  my ($from, $path) = @words;
  my $fd = copy_of($from, $DEEP);
  if ($fd < 0) { $what eq "ro-bind-try" && $! == 2 ? next : fail($from) }
  attributes($fd, $what eq "bind" ? 6 : 7) if $what ne "dev-bind";
  if ($path ne "/") { attach($fd, $path, -d "/proc/self/fd/$fd") }
  else { call("mount the root", "move_mount", $fd, "", $old, "", 0x44); $new = $fd }
}
my $proc = $has->{"disable-userns"} ? fresh("proc", 0) : -1;
call("go to the root", "fchdir", $new);
call("change the root", "pivot_root", ".", ".");
call("leave the old root", "umount2", ".", 2);
chdir("/") or fail("/");
if ($has->{"disable-userns"}) {
  put($proc, "sys/user/max_user_namespaces", "1\n");
  call("make a user namespace", "unshare", $NEWUSER);
  keep_ids($proc, "self/");
}
chdir($cwd) or fail($cwd);
if ($spaces & $NEWUSER) {
  for (my $right = 0; syscall($N{prctl}, 24, $right, 0, 0, 0) == 0; $right++) {}
  my ($header, $none) = (pack("L2", 0x20080522, 0), pack("L6", (0) x 6));
  call("drop all rights", "capset", $header, $none);
}
call("gain no rights", "prctl", 38, 1, 0, 0, 0);
dies_with_parent() if $spaces & $NEWPID;
if (defined $has->{seccomp}) {
  my $filter = "";
  open(my $file, "<&=", 0 + $has->{seccomp}) or fail("filter");
  while (1) { my $got = sysread($file, $filter, 65536, length $filter); defined $got or fail("filter"); $got or last }
  my $program = pack("S x6 P", length($filter) / 8, $filter);
  call("install the filter", "prctl", 22, 2, $program, 0, 0);
}
exec { $ARGV[0] } @ARGV;
fail($ARGV[0]);
`;
