/**
 * A program inside a sandbox without a network: it listens on the loopback and forwards each connection to the socket
 * of the proxy. It is the parent of the confined program, passes on its signals, and exits with its status. It is
 * passed as source text, because no file of ours needs to be visible there. It is written in perl if the host has it,
 * as perl starts in a tenth of the time; otherwise it runs on the daemon's node.
 */
import { isExecutable } from "../../lib/program-file.ts";

const PORT = 3128;
const PERL = ["/usr/bin/perl", "/bin/perl", "/usr/local/bin/perl"];

export const egressEnvironment: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"].map((name) => [
      name,
      `http://127.0.0.1:${PORT}`,
    ]),
  ),
  ...Object.fromEntries(["ALL_PROXY", "all_proxy"].map((name) => [name, `socks5h://127.0.0.1:${PORT}`])),
  NO_PROXY: "localhost,127.0.0.1,::1",
  no_proxy: "localhost,127.0.0.1,::1",
  // Node uses proxies only if this is set
  NODE_USE_ENV_PROXY: "1",
};

export type Forward = "perl" | "node";

let found: Forward | undefined;

/** Looked up once. */
function forwardHere(): Forward {
  found ??= process.platform === "linux" && PERL.some(isExecutable) ? "perl" : "node";
  return found;
}

/** The argv that runs `argv` behind the forwarder. `socketPath`: the path of the socket inside. */
export function forwarded(
  argv: readonly string[],
  socketPath: string,
  by: Forward = forwardHere(),
): readonly [string, ...string[]] {
  const perl = PERL.find(isExecutable) ?? "perl";
  // -f: without the site's start-up files
  const [program, ...how]: readonly [string, ...string[]] =
    by === "perl" ? [perl, "-f", "-e", IN_PERL] : [process.execPath, "-e", IN_NODE];
  return [program, ...how, "--", socketPath, String(PORT), ...argv];
}

/**
 * Two processes: one forwards, the other waits for the program and exits with its status. A signal that arrives
 * before the program has begun is passed to the program. Each direction buffers at most 64 KiB; while a buffer is not
 * drained, its source is not read. The numbers are those of Linux: AF_UNIX 1, AF_INET 2, SOCK_STREAM 1, SOL_SOCKET 1,
 * SO_REUSEADDR 2, O_NONBLOCK 04000 by F_SETFL 4; EAGAIN 11, EINTR 4.
 */
const IN_PERL = String.raw`
my ($path, $port, @argv) = @ARGV;
my $door;
sub fail { print STDERR "sandbox: $_[1]\n"; exit $_[0] }
socket($door, 2, 1, 0) && setsockopt($door, 1, 2, pack("l", 1))
  && bind($door, pack("S n N x8", 2, $port, 0x7f000001)) && listen($door, 128) or fail(126, $!);
defined(my $forwarder = fork) or fail(126, $!);
$forwarder or forward();
my @signals = qw(TERM INT HUP PIPE);
my $heard;
$SIG{$_} = sub { $heard = shift } for @signals;
defined(my $program = fork) or fail(126, $!);
if (!$program) {
  close $door;
  $SIG{$_} = "DEFAULT" for @signals;
  kill $heard, $$ if $heard;
  exec { $argv[0] } @argv;
  fail(127, "$argv[0]: $!");
}
close $door;
1 while waitpid($program, 0) < 0 && $! == 4;
my $end = $?;
kill 9, $forwarder;
exit($end & 127 ? 128 + ($end & 127) : $end >> 8);

my (%peer, %held, %ended, %shut);
sub quiet { fcntl($_[0], 4, 2048) }
sub drop { for (@_) { my $n = fileno $_; delete $$_{$n} for \(%peer, %held, %ended, %shut); close $_ } }
sub accepted {
  accept(my $inner, $door) or return;
  my $outer;
  if (!socket($outer, 1, 1, 0) or !connect($outer, pack("S a108", 1, $path))) { close $inner }
  else { quiet($_) for $inner, $outer; $peer{fileno $inner} = [$inner, $outer]; $peer{fileno $outer} = [$outer, $inner] }
}
sub readable {
  my ($from, $to) = @_;
  my $n = sysread $from, $held{fileno $to}, 65536;
  if (!defined $n) { return $! == 11 || $! == 4 ? () : drop($from, $to) }
  $ended{fileno $from} = 1 if !$n;
  writable($to, $from);
}
sub writable {
  my ($to, $from) = @_;
  my $data = \$held{fileno $to};
  if (length $$data) {
    my $n = syswrite $to, $$data;
    if (!defined $n) { return $! == 11 || $! == 4 ? () : drop($from, $to) }
    substr($$data, 0, $n) = "";
  }
  return if length $$data or !$ended{fileno $from} or $shut{fileno $to}++;
  shutdown $to, 1;
  drop($from, $to) if $shut{fileno $from};
}
sub forward {
  $SIG{$_} = "IGNORE" for qw(TERM INT HUP PIPE);
  close STDIN; close STDOUT; close STDERR;
  quiet($door);
  for (;;) {
    my ($r, $w) = ("", "");
    vec($r, fileno $door, 1) = 1;
    while (my ($n, $pair) = each %peer) {
      vec($r, $n, 1) = 1 if !$ended{$n} && !length($held{fileno $$pair[1]} // "");
      vec($w, $n, 1) = 1 if length($held{$n} // "");
    }
    select($r, $w, undef, undef) > 0 or next;
    for my $n (keys %peer) {
      my $pair = $peer{$n} or next;
      writable(@$pair) if vec($w, $n, 1);
      readable(@$pair) if $peer{$n} && vec($r, $n, 1);
    }
    accepted() if vec($r, fileno $door, 1);
  }
}`;

/** The program inherits fds 0 to 2. It begins once the port is open. */
const IN_NODE = `const net = require("node:net");
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const [path, port, program, ...args] = process.argv.slice(1);
for (const name of ["SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"]) process.on(name, () => {});
const server = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path, allowHalfOpen: true });
  const end = () => { inner.destroy(); outer.destroy(); };
  inner.on("error", end); outer.on("error", end);
  inner.pipe(outer); outer.pipe(inner);
});
server.on("error", (error) => { console.error("sandbox: " + error.message); process.exit(126); });
server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(program, args, { stdio: "inherit" });
  child.on("error", (error) => { console.error("sandbox: " + error.message); process.exit(127); });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
});`;
