import { Fault } from "../../../abi/errors.ts";
import type { Params } from "../../../abi/methods/methods.ts";
import { type Args, pairsFlag, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import type { Host } from "../../host/host.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import { mountPath } from "./mount-path.ts";
import { startOf } from "./mount-place.ts";

const USAGE =
  "crux mount <name> --url <url> [--header K=V]…, or crux mount <name> [-e K=V]… [--unconfined] -- <command> [args…]";

type McpConfig = Params<"mcp.mount">["config"];

/** Mounts an MCP server for all processes. */
export const mount: Command = {
  flags: {
    url: { type: "string" },
    header: { type: "string" },
    env: { type: "string", short: "e" },
    unconfined: { type: "boolean" },
  },
  run,
};

async function run({ args, console, host }: Call): Promise<number> {
  const command = args.behind ?? [];
  const [name, ...more] = args.words.slice(0, args.words.length - command.length);
  if (name === undefined) throw invalid("a name or a path is missing", USAGE);
  if (more.length > 0) throw invalid(`unknown argument: ${more[0]}`, USAGE);
  const request = { path: mountPath(name), config: configOf(args, command, host) };
  const client = await host.daemon.ensure();
  const { path, state } = await client.request("mcp.mount", request);
  const problem = state === "pending" ? "" : await problemOf(client, path);
  client.close();
  if (state === "failed") throw notConnected(path, request.config, problem);
  if (problem !== "") await console.errorLine(`${path}: ${safeLine(problem)}`);
  if (console.mode === "json") await console.data({ path, state });
  else if (console.mode !== "quiet") await console.line(`[kernel] ${path}: mounted (${state})`);
  return 0;
}

function configOf(args: Args, command: readonly string[], host: Pick<Host, "env" | "cwd">): McpConfig {
  const url = textFlag(args, "url");
  const [program, ...rest] = command;
  if ((url === undefined) === (program === undefined))
    throw invalid("a server needs --url, or its command behind --", USAGE);
  if (url !== undefined) return httpConfig(args, url);
  if (args.flags.has("header")) throw invalid("--header goes with --url", USAGE);
  const env = pairsFlag(args, "env", host.env);
  const { cwd, confined } = startOf(command, { cwd: host.cwd, home: host.env.HOME ?? "/" });
  const place = cwd === undefined ? {} : { cwd };
  const within = confined === undefined || args.flags.has("unconfined") ? {} : { confined };
  return { type: "stdio", command: program ?? "", args: rest, env, ...place, ...within };
}

function httpConfig(args: Args, url: string): McpConfig {
  const own = ["env", "unconfined"].find((flag) => args.flags.has(flag));
  if (own !== undefined) throw invalid(`--${own} goes with a command`, USAGE);
  if (!/^https?:\/\/./i.test(url) || !URL.canParse(url)) throw invalid(`not a URL: ${url}`, USAGE);
  return { type: "http", url, headers: pairsFlag(args, "header") };
}

/** Why it is not connected, or which part of it is left out; "": no problem. */
async function problemOf(client: DaemonClient, path: string): Promise<string> {
  const { mounts } = await client.request("mcp.list", {});
  return mounts.find((mount) => mount.path === path)?.problem ?? "";
}

function notConnected(path: string, config: McpConfig, problem: string): Fault {
  const where = config.type === "http" ? `the server at ${config.url}` : `the program ${config.command}`;
  const why = problem === "" ? "" : `: ${problem}`;
  const within =
    config.type === "stdio" && config.confined === true
      ? `; it runs in the sandbox, since an agent may change what lies in ${config.cwd}: --unconfined gives it your whole account`
      : "";
  return new Fault({
    code: "UNAVAILABLE",
    message: `mounted, but not connected: ${path}${why}`,
    hint: `check ${where}; its next use tries again, and crux umount ${path} takes it away${within}`,
  });
}
