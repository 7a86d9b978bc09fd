/** What the first line of `stream-json` tells of the session. */
import type { Definition } from "../../abi/methods/definition.ts";
import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { canonicalToolName, coversTool } from "../../abi/tool.ts";
import { textFlag } from "../args.ts";
import type { Call } from "../command.ts";
import type { DaemonClient } from "../daemon/client.ts";
import { clientEnvironment } from "../run/environment.ts";
import { workingDirectory } from "../run/run-options.ts";
import type { InitFacts } from "./printer.ts";

/** The spelling of modes that scripts for other agents know. */
const PUBLISHED: Readonly<Partial<Record<PermissionMode, string>>> = {
  dont_ask: "dontAsk",
  accept_edits: "acceptEdits",
  bypass: "bypassPermissions",
};

/** A list that this client may not read is empty. */
export async function initFacts({ args, host }: Call, pid: number): Promise<InitFacts> {
  const cwd = workingDirectory(args, host);
  const client = await host.daemon.ensure();
  try {
    const ask = asking(client);
    const [listed, bin, told, mcp, agents, skills] = [
      await ask("list_procs", {}),
      await ask("file.list", { path: "/bin" }),
      await ask("file.read", { path: `/proc/${pid}/tools` }),
      await ask("mcp.list", {}),
      await ask("agents.check", { cwd }),
      await ask("skills.check", { cwd }),
    ];
    const found = listed?.processes.find((each) => each.pid === pid);
    const agent = textFlag(args, "agent");
    // one that nobody named is known by its driver
    const named = await ask("model.resolve", {
      cwd,
      env: clientEnvironment(host.env),
      ...(agent === undefined ? {} : { agent }),
    });
    const model = found?.model ?? "";
    const mode = found?.mode ?? "default";
    return {
      pid,
      cwd,
      model: named?.driver === model && named.model !== "" ? named.model : model,
      tools: (bin?.entries ?? []).map(({ name }) => name).filter(mayCall(told?.base64)),
      mcp_servers: (mcp?.mounts ?? []).map(({ path, state }) => ({
        name: path.slice(path.lastIndexOf("/") + 1),
        status: state,
      })),
      permissionMode: PUBLISHED[mode] ?? mode,
      slash_commands: usable(skills?.definitions ?? []),
      agents: usable(agents?.definitions ?? []),
      crux_version: host.version,
    };
  } finally {
    client.close();
  }
}

/** Whether the session may call a tool, by its own list of them; what cannot be read limits nothing. */
function mayCall(base64 = ""): (name: string) => boolean {
  const text = Buffer.from(base64, "base64").toString("utf8") || '{"within": [], "denied": []}';
  const { within, denied } = JSON.parse(text) as { within: string[][]; denied: string[] };
  const closed = new Set(denied.map(canonicalToolName));
  return (name) => !closed.has(name) && within.every((list) => list.some((tool) => coversTool(tool, name)));
}

/** The names of those that can be loaded and that no other stands before. */
function usable(definitions: readonly Definition[]): string[] {
  return definitions
    .filter(
      ({ shadowedBy, issues }) => shadowedBy === "" && !issues.some(({ severity }) => severity === "error"),
    )
    .map(({ name }) => name);
}

function asking(client: DaemonClient) {
  return <M extends MethodName>(method: M, payload: Params<M>): Promise<Result<M> | undefined> =>
    client.request(method, payload).catch(() => undefined);
}
