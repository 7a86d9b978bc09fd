/** `crux acp-link`: lets a client on a WebSocket talk to any agent that speaks the protocol on stdin and stdout. */
import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { messageOf } from "../../abi/errors.ts";
import { findPermissionMode } from "../../abi/process.ts";
import { type Args, countFlag, noWords, textFlag } from "../args.ts";
import type { Call, Command } from "../command.ts";
import { clientEnvironment } from "../run/environment.ts";
import { invalid } from "../screen/errors.ts";
import { type LinkOptions, startLink } from "./link-server.ts";

const USAGE =
  "crux acp-link [--port <n>] [--host <address>] [--https <cert>,<key>] [--token-file <file>] -- <agent command>";
const DEFAULT_PORT = 9315;
const MAX_PORT = 65_535;
const TOKEN_BYTES = 32;
const MIN_TOKEN_CHARS = 16;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

export const acpLink: Command = {
  flags: {
    port: { type: "string" },
    host: { type: "string" },
    https: { type: "string" },
    "token-file": { type: "string" },
  },
  run,
};

/** Ends at Ctrl-C or SIGTERM, with all agents that it has started. */
async function run(call: Call): Promise<number> {
  const { console, host } = call;
  const options = optionsOf(call);
  const given = givenToken(call.args);
  const token = given ?? randomBytes(TOKEN_BYTES).toString("base64url");
  const over = Promise.withResolvers<number>();
  const unlisten = [
    host.interrupts.listen(() => over.resolve(130)),
    host.lifecycle.onTerminate(() => over.resolve(143)),
  ];
  const link = await startLink({ ...options, token, log: (words) => void console.errorLine(words) });
  try {
    if (console.mode === "json")
      await console.data({ url: link.url, ...(given === undefined ? { token } : {}) });
    else {
      await console.line(`[acp-link] ${link.url}`);
      if (given === undefined) await console.line(`[acp-link] token: ${token}`);
    }
    return await over.promise;
  } finally {
    for (const each of unlisten) each();
    await link.close();
  }
}

function optionsOf({ args, host }: Call): Omit<LinkOptions, "token" | "log"> {
  const command = args.behind ?? [];
  noWords({ ...args, words: args.words.slice(0, args.words.length - command.length) }, USAGE);
  const [program, ...rest] = command;
  if (program === undefined) throw invalid("the command of the agent is missing", USAGE);
  const port = args.flags.has("port") ? countFlag(args, "port") : DEFAULT_PORT;
  if (port > MAX_PORT) throw invalid(`not a port: ${port}`);
  const address = textFlag(args, "host") ?? "127.0.0.1";
  const tls = tlsOf(args);
  if (tls === undefined && !LOOPBACK.test(address))
    throw invalid(`${address} is not on this machine alone: that needs TLS`, "--https <cert>,<key>");
  const mode = findPermissionMode(host.env.CRUX_ACP_PERMISSION_MODE ?? "");
  return {
    ...{ program, args: rest, cwd: host.cwd, env: clientEnvironment(host.env), address, port },
    ...(tls === undefined ? {} : { tls }),
    ...(mode === undefined ? {} : { mode }),
  };
}

function tlsOf(args: Args): LinkOptions["tls"] {
  const text = textFlag(args, "https");
  if (text === undefined) return undefined;
  const [cert, key, ...more] = text.split(",");
  if (cert === undefined || key === undefined || more.length > 0)
    throw invalid("--https needs two files: <cert>,<key>", USAGE);
  return { cert: fileOf(cert), key: fileOf(key) };
}

/** undefined: a random one for this start. */
function givenToken(args: Args): string | undefined {
  const file = textFlag(args, "token-file");
  if (file === undefined) return undefined;
  const token = fileOf(file).trim();
  if ((statSync(file).mode & 0o077) !== 0)
    throw invalid(`others can read the token: ${file}`, `chmod 600 ${file}`);
  if (token.length >= MIN_TOKEN_CHARS && /^[\w~.+/=-]+$/.test(token)) return token;
  throw invalid(`not a token: ${file} needs at least ${MIN_TOKEN_CHARS} characters, without blanks`);
}

function fileOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw invalid(`cannot read ${path}: ${messageOf(error)}`);
  }
}
