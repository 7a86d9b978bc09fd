/**
 * Inside a sandbox without a network: what listens on its loopback and hands each connection to the socket of the proxy. It is
 * the parent of the program, hears its signals too, and ends as it ends. As text, because no file of ours need be seen there.
 */
const PORT = 3128;

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
  // Node heeds proxies only when it is told to
  NODE_USE_ENV_PROXY: "1",
};

/** `argv` behind it. `socketPath`: as it is seen inside. */
export function forwarded(argv: readonly string[], socketPath: string): readonly [string, ...string[]] {
  return [process.execPath, "-e", FORWARDER, "--", socketPath, String(PORT), ...argv];
}

/** Names of the streams: 0 to 2 are handed on. The program begins when the port is open. */
const FORWARDER = `const net = require("node:net");
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
