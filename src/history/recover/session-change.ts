/** What a session works with is changed while it comes back: its next life has it from the start, and so have later ones. */
import { isDeepStrictEqual } from "node:util";
import { Fault } from "../../abi/errors.ts";
import type { McpServer } from "../../abi/mcp.ts";
import type { Rights } from "../../abi/rights.ts";
import { canonicalToolName, coversTool } from "../../abi/tool.ts";
import type { ContextSpaces } from "../../kernel/context/spaces.ts";
import type { JournalDraft, ProcessRow } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { SessionChange } from "../../kernel/ports/sessions.ts";
import { type KeptState, keptServer } from "../../kernel/process/kept-state.ts";
import type { Process } from "../../kernel/process/process.ts";
import { meet } from "../../kernel/process/rights/narrow.ts";
import { type Redacting, redactedText } from "../../kernel/redact/model-bound.ts";

type Prompting = Redacting & { readonly contexts: Pick<ContextSpaces, "prompt" | "setSystemPrompt"> };

type Places = { readonly ports: Pick<KernelPorts, "realPath"> };

/** The state as the process has it: its new servers with all that they need to be reached. */
export function changed({ ports }: Places, kept: KeptState, change: SessionChange): KeptState {
  const { dirs = [], servers = [], isStrict = false, agents, tools } = change;
  const left = meet(kept.tools ?? null, tools?.map(canonicalToolName) ?? null, coversTool);
  const isOther = ({ name }: { readonly name: string }) => servers.every((server) => server.name !== name);
  const given = [
    ...(kept.given ?? []).filter(isOther),
    ...servers.map((server) => ({ ...keptServer(server), config: server.config })),
  ];
  return {
    ...kept,
    roots: [...new Set([...kept.roots, ...dirs.map(ports.realPath)])],
    servers: isStrict ? [] : kept.servers.filter((name) => isOther({ name })),
    ...(given.length === 0 ? {} : { given }),
    ...(agents === undefined ? {} : { agents }),
    ...(left === null ? {} : { tools: left }),
  };
}

/** The rights of its spawn, without the tools that its client has taken from it since. */
export function rightsLeft(rights: Rights, { tools }: Pick<KeptState, "tools">): Rights {
  if (tools === undefined) return rights;
  const { notes } = rights;
  const isLeft = (name: string) => tools.some((wide) => coversTool(wide, name));
  return {
    ...rights,
    tools: meet(rights.tools, tools, coversTool),
    ...(notes === undefined ? {} : { notes: { ...notes, tools: notes.tools.filter(isLeft) } }),
  };
}

/** The state as the journal keeps it: without what a server needs that is secret. */
export function recordOf(kept: KeptState, { servers = [] }: SessionChange): KeptState {
  if (kept.given === undefined) return kept;
  const plain = new Map(servers.map((server) => [server.name, keptServer(server)]));
  return { ...kept, given: kept.given.map((each) => plain.get(each.name) ?? each) };
}

/** The prompt of the process is the new one; its record, which its program has not made (`given`). Empty: it is the one that it has. */
export function setPrompt(core: Prompting, proc: Process, { systemPrompt }: SessionChange): JournalDraft[] {
  if (systemPrompt === undefined) return [];
  const text = redactedText(core, proc, systemPrompt);
  if (core.contexts.prompt(proc.ctxId).systemPrompt === text) return [];
  core.contexts.setSystemPrompt(proc.ctxId, text);
  const { pid, seed } = proc;
  return [{ proc: seed.uuid, pid, kind: "ctx.record", v: 1, body: { system_prompt: text, given: true } }];
}

/** PERMISSION: what a rule denies, and protected places, are not opened by adding them. Others ask as they do elsewhere. */
export function checkFolders(
  { ports }: { readonly ports: Pick<KernelPorts, "permitFor" | "realPath"> },
  { pid, cwd }: Pick<ProcessRow, "pid" | "cwd">,
  dirs: readonly string[],
): void {
  for (const path of dirs) {
    const real = ports.realPath(path);
    const subject = { pid, mode: "default", cwd, roots: [real], allowedDevices: null, grants: [] } as const;
    const inside = `${real === "/" ? "" : real}/new`;
    const effects = [
      { kind: "read", path, real },
      { kind: "write", path: inside, real: inside, change: "create" },
    ] as const;
    const decision = ports.permitFor(cwd).decide(subject, { tool: "write", effects });
    const isClosed = decision.reason.kind === "protected" || decision.reason.kind === "error";
    if (decision.behavior !== "allow" && (decision.behavior === "deny" || isClosed))
      throw new Fault({ code: "PERMISSION", message: notOpened(path, decision.reason.detail) });
  }
}

/** A reason that begins with the path does not name it again. */
function notOpened(path: string, why: string): string {
  const isNamed = why.startsWith(`${path} `);
  return `${path} is not opened: ${isNamed ? `it ${why.slice(path.length + 1)}` : why}`;
}

/** It works with all of that already: nothing is to be done, whatever it does at the moment. */
export function isChanged(core: Places & Prompting, proc: Process, change: SessionChange): boolean {
  const { dirs = [], servers = [], isStrict = false, systemPrompt, agents, tools } = change;
  const { seed, roots, ctxId } = proc;
  const held = givenTo(proc);
  const hasServer = (wanted: McpServer) =>
    held.some(({ name, config }) => isDeepStrictEqual([name, config], [wanted.name, wanted.config]));
  return !(
    !isStrict &&
    dirs.every((dir) => roots.includes(core.ports.realPath(dir))) &&
    servers.every(hasServer) &&
    (agents === undefined || isDeepStrictEqual(agents, seed.agents)) &&
    (tools === undefined ||
      isDeepStrictEqual(rightsLeft(seed.rights, { tools: tools.map(canonicalToolName) }), seed.rights)) &&
    (systemPrompt === undefined ||
      redactedText(core, proc, systemPrompt) === core.contexts.prompt(ctxId).systemPrompt)
  );
}

/** The servers of its client, with what they need to be reached, which is in memory alone. */
export function givenTo({ seed }: Process): readonly McpServer[] {
  return seed.agent?.manifest.mcp.filter(({ isGiven }) => isGiven === true) ?? [];
}

/** The servers of its client that a process in memory can reach. */
export function serversGiven({ given = [] }: KeptState): readonly McpServer[] {
  return given.flatMap(({ name, config, alwaysLoad }) => {
    if (config === null) return [];
    const always = alwaysLoad === true ? { alwaysLoad } : {};
    return [{ name, config, required: false, isGiven: true as const, ...always }];
  });
}
