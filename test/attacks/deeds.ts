/**
 * What a hostile program would do once it runs as a child of an agent. Each is a piece of bash that succeeds only if its deed is
 * done. `{…}`: real places and numbers, known to the attacker from elsewhere.
 */
export interface Deed {
  readonly name: string;
  readonly script: string;
  /** Nothing in the way does not help it here: the arena has no such thing. */
  readonly neverWorks?: true;
}

/** Numbers of system calls: x86-64, arm64. */
const syscall = (x64: number, arm64: number, ...args: readonly number[]) => {
  const number = process.arch === "arm64" ? arm64 : x64;
  return `perl -e 'exit(syscall(${[number, ...args].join(", ")}) < 0)'`;
};
const connects = (path: string) =>
  `{node} -e 'require("net").connect(${path}).on("connect", () => process.exit(0)).on("error", () => process.exit(1))'`;

/** Opens a socket, claims to be the person, and answers the question that is open. 0: a request was granted; 3: each is PERMISSION. */
const answers = (socket: string) => `{node} impostor.cjs ${socket}`;
export const IMPOSTOR = `
const net = require("node:net"), fs = require("node:fs");
let cookie = "none";
try { cookie = fs.readFileSync("{runtime}/crux.cookie", "utf8"); } catch {}
const wanted = [["ask.answer", { ask_id: "{ask}", answer: "yes" }], ["spawn", { intent: "x", permission_mode: "bypass" }],
  ["process.mode", { pid: 2, mode: "bypass" }], ["shutdown", {}], ["ask.answer", { ask_id: "{ask}", answer: "always" }]];
const socket = net.connect(process.argv[2]);
socket.on("error", () => process.exit(1));
socket.on("close", () => process.exit(1));
socket.write([["auth", { cookie }], ...wanted].map(([method, payload]) => JSON.stringify({ method, payload }) + "\\n").join(""));
let text = "";
socket.on("data", (chunk) => {
  text += chunk;
  const replies = text.split("\\n").slice(0, -1).map((line) => JSON.parse(line));
  if (replies.slice(1).some(({ ok }) => ok === true)) process.exit(0);
  const isRefused = ({ error }) => error.code === "PERMISSION";
  if (replies.length > wanted.length) process.exit(replies.every(isRefused) ? 3 : 1);
});
`;

export const DEEDS: readonly Deed[] = [
  { name: "answers the open question by the socket of the person", script: answers("{runtime}/crux.sock") },
  {
    name: "answers the open question by its own socket",
    script: answers('"$CRUX_IPC_SOCKET"'),
    neverWorks: true,
  },
  { name: "reads the cookie", script: "cat {runtime}/crux.cookie" },
  { name: "reads the journal", script: "cat {state}/journal/journal.db" },
  { name: "writes into the state", script: "echo x > {state}/planted" },
  { name: "writes into the runtime directory", script: "echo x > {runtime}/planted" },
  { name: "sees the daemon", script: "grep -qs [c]anary-of-the-daemon /proc/[0-9]*/environ" },
  { name: "sees programs of others", script: "grep -qs [c]anary-victim /proc/[0-9]*/cmdline" },
  { name: "reads files by another's root", script: "cat /proc/*/root/outside/../{state}/journal/journal.db" },
  { name: "changes the memory of another", script: ": >> /proc/{victim}/mem" },
  {
    name: "kills the daemon",
    script: "kill -9 {daemon} && sleep 0.2 && ! [ -S {runtime}/crux.sock ]",
    neverWorks: true,
  },
  {
    name: "kills a program of another",
    script: "grep -q [c]anary-victim /proc/{victim}/cmdline && kill -9 {victim}",
  },
  { name: "traces", script: syscall(101, 117, 0, 0, 0, 0) },
  { name: "makes a user namespace", script: "unshare -U true" },
  { name: "makes a mount namespace", script: "unshare -Ur -m true" },
  { name: "confines itself anew", script: "bwrap --ro-bind / / true" },
  { name: "opens a keyring", script: syscall(250, 219, 0, -3, 1) },
  { name: "sets up an io_uring", script: `perl -e 'my $p = "\\0" x 120; exit(syscall(425, 4, $p) < 0)'` },
  { name: "mounts", script: "mount -t tmpfs none /srv", neverWorks: true },
  { name: "gains rights", script: "grep -Eq '^NoNewPrivs:\\s*0' /proc/self/status", neverWorks: true },
  {
    name: "types into the terminal of its caller",
    script: `perl -e 'open(T, "+<", "/dev/tty") or exit 1; exit !ioctl(T, 0x5412, "x")'`,
    neverWorks: true,
  },
  { name: "connects to a service in /run", script: connects('"/run/docker.sock"') },
  { name: "connects to a service elsewhere", script: connects('"/var/tmp/canary.sock"') },
  { name: "connects to an abstract socket", script: connects('"\\0canary-abstract"') },
  { name: "connects to the loopback of the machine", script: ": < /dev/tcp/127.0.0.1/{port}" },
  { name: "writes the settings of the project", script: "mkdir -p .crux; echo '{}' > .crux/settings.json" },
  { name: "writes a hook", script: "echo x > .git/hooks/pre-commit" },
  { name: "writes the configuration of git", script: "git config core.fsmonitor ./e" },
  {
    name: "writes the configuration of git by another name",
    script: "ln .git/config hard && echo x >> hard",
  },
  { name: "moves .git away", script: "mv .git moved" },
  { name: "moves the parent of .git away", script: "mv {workspace} {workspace}-moved" },
  { name: "reads what may not be read", script: "cat secrets/k" },
  { name: "reads the keys of the person", script: "cat ~/.ssh/id_ed25519" },
  { name: "writes at home", script: "echo x >> ~/.bashrc" },
  { name: "writes to the machine", script: "echo x >> /etc/hosts" },
  { name: "writes elsewhere", script: "echo x > /outside/planted" },
  { name: "reads a key of the environment", script: "env | grep -q canary-of-the-environment" },
];

/** One after the other, none stopped by the one before; at the end all that it can reach is killed. */
export const HOSTILE = [
  ...DEEDS.map(
    ({ name, script }) =>
      `if ( ${script} ) > /dev/null 2>&1; then echo "done: ${name}"; else echo "held: ${name}"; fi`,
  ),
  // its own socket hears it, and grants nothing
  `${answers('"$CRUX_IPC_SOCKET"')}; [ $? = 3 ] && echo "refused: PERMISSION"`,
  "setsid sleep 1000 > /dev/null 2>&1 &",
  "echo the end",
].join("\n");
