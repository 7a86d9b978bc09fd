/** Agent files: `<name>/agent.yaml` and `<name>/instructions.md`, or `<name>.md`, with the skills they name. */
import type { AgentInfo, AgentLine, Skill } from "../../abi/agent.ts";
import { Fault } from "../../abi/errors.ts";
import { isWithin } from "../../lib/path.ts";
import { type AgentFiles, checkName, escapes, ifThere, isName, readInside } from "./files.ts";
import { parseFrontMatter } from "./front-matter.ts";
import { manifestOf, parseManifest, yamlSettings } from "./manifest.ts";
import { allowedDevices, findEntry, makeSkillLoader } from "./skill.ts";

/** The number of definitions read in one directory; the rest is ignored. */
const MAX_DEFINITIONS = 500;
/** Names with another meaning where an agent is chosen. */
const RESERVED = new Set(["fork", "main"]);

/** Where a definition is: shipped, the user's own, the user's settings, another program's or Crux's folder of a project, … */
type AgentOrigin = "bundled" | "user" | "settings" | "other" | "project" | "command" | "policy";

export interface AgentPlace {
  readonly dir: string;
  readonly source: AgentOrigin;
}

interface AgentLoader {
  /** INVALID: the name, or a file of the agent. NOT_FOUND: no such agent, or it lacks its instructions or a skill. */
  load(name: string): Promise<AgentInfo>;
  /** The names of all agents, sorted. */
  list(): Promise<string[]>;
}

export interface LoaderOptions {
  /** Directories of agent files, lowest precedence first; a missing one counts as empty. */
  readonly dirs: readonly string[];
  readonly skillDirs: readonly string[];
  readonly files: AgentFiles;
  /** The variables for MCP server entries; default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called for keys and names that have no effect. */
  readonly warn?: (message: string) => void;
}

export function makeAgentLoader(options: LoaderOptions): AgentLoader {
  const { dirs, files } = options;
  const list = () => listAgents(dirs, files);
  const load = async (name: string) => {
    checkName("agent", name);
    if (RESERVED.has(name.toLowerCase()))
      throw new Fault({ code: "INVALID", message: `agent name is reserved: ${name}` });
    for (const dir of dirs.toReversed()) {
      const found = await findAgent(files, dir, name);
      if (found !== undefined) return await read(found, options);
    }
    const here = (await list()).join(", ");
    throw new Fault({
      code: "NOT_FOUND",
      message: `agent not found: ${name}. Agents here: ${here || "none"}`,
      fact: { kind: "no_agent" },
    });
  };
  return { load, list };
}

/** The instructions, then the bodies of the skills, separated by blank lines; empty parts are skipped. */
function systemPrompt(instructions: string, skills: readonly Skill[]): string {
  return [instructions, ...skills.map((skill) => skill.body)].filter((part) => part !== "").join("\n\n");
}

export type AgentSource = FoundFolder | FoundFile;

interface FoundFolder {
  readonly kind: "folder";
  /** The agent's own directory, resolved. */
  readonly base: string;
  readonly entry: string;
  /** The path of the settings file, with links not resolved. */
  readonly path: string;
  readonly yaml: string;
}

/** One file: the settings, then the instructions. */
interface FoundFile {
  readonly kind: "file";
  readonly entry: string;
  readonly path: string;
  readonly text: string;
}

async function findAgent(files: AgentFiles, dir: string, name: string): Promise<AgentSource | undefined> {
  return (await findFolder(files, dir, name)) ?? (await findFile(files, dir, name));
}

export async function findFolder(
  files: AgentFiles,
  dir: string,
  name: string,
): Promise<FoundFolder | undefined> {
  const entry = await findEntry(files, dir, name);
  if (entry === undefined) return undefined;
  const root = await files.realPath(dir);
  const base = await ifThere(files.realPath(`${dir}/${entry}`));
  if (base === undefined) return undefined;
  if (!isWithin(root, base)) throw escapes("agent");
  const yaml = await readInside(files, base, `${base}/agent.yaml`, "agent");
  return yaml === undefined
    ? undefined
    : { kind: "folder", base, entry, path: `${dir}/${entry}/agent.yaml`, yaml };
}

export async function findFile(files: AgentFiles, dir: string, name: string): Promise<FoundFile | undefined> {
  const entry = await findEntry(files, dir, `${name}.md`);
  if (entry === undefined) return undefined;
  const text = await readInside(files, await files.realPath(dir), `${dir}/${entry}`, "agent");
  // a file without settings is not an agent, but perhaps a README
  return text === undefined || !/^\uFEFF?---/.test(text)
    ? undefined
    : { kind: "file", entry: entry.slice(0, -".md".length), path: `${dir}/${entry}`, text };
}

async function read(found: AgentSource, options: LoaderOptions): Promise<AgentInfo> {
  const { files, skillDirs, warn } = options;
  const { entry, path } = found;
  const { manifest, instructions } = await parts(found, options);
  if (manifest.name.toLowerCase() !== entry.toLowerCase())
    warn?.(`${path}: it calls itself ${manifest.name}; it is found as ${entry}`);
  const loader = makeSkillLoader(skillDirs, files);
  const skills: Skill[] = [];
  for (const name of manifest.skills) skills.push(await loader.loadFull(name));
  return {
    manifest,
    instructions,
    skills,
    systemPrompt: systemPrompt(instructions, manifest.preload === true ? skills : []),
    allowedDevices: allowedDevices(skills),
  };
}

/** The manifest and instructions of an agent. NOT_FOUND: a folder without instructions. */
async function parts(found: AgentSource, { files, warn, env }: LoaderOptions) {
  const { entry, path } = found;
  const hear = (message: string): void => warn?.(message);
  if (found.kind === "file") {
    const { fields, body } = parseFrontMatter(path, found.text);
    return { manifest: manifestOf(fields, path, hear, env), instructions: body };
  }
  const manifest = parseManifest(found.yaml, hear, env, path);
  const instructions = await instructionsOf(found, files);
  if (instructions === undefined)
    throw new Fault({
      code: "NOT_FOUND",
      message: `agent ${entry}: instructions.md not found beside agent.yaml`,
    });
  const description = manifest.description || firstLine(instructions);
  return { manifest: { ...manifest, description }, instructions };
}

async function instructionsOf({ base }: FoundFolder, files: AgentFiles): Promise<string | undefined> {
  const text = await readInside(files, base, `${base}/instructions.md`, "agent");
  return text?.replace(/^\uFEFF/, "").trim();
}

function firstLine(instructions: string): string {
  return (
    instructions
      .split("\n")
      .find((line) => line.trim() !== "" && !line.startsWith("#"))
      ?.trim() ?? ""
  );
}

/** Its description, else the first line of its instructions. INVALID: its settings cannot be parsed. */
export async function describe(found: AgentSource, files: AgentFiles): Promise<string> {
  const { path } = found;
  if (found.kind === "file") return parseFrontMatter(path, found.text).fields.text("description");
  const said = yamlSettings(path, found.yaml).text("description");
  return said || firstLine((await instructionsOf(found, files)) ?? "");
}

/** Those that can be read, sorted. A file that is wrong is reported where it is checked, and where it is used. */
export async function agentLines({
  dirs,
  files,
}: Pick<LoaderOptions, "dirs" | "files">): Promise<AgentLine[]> {
  const lines: AgentLine[] = [];
  for (const name of await listAgents(dirs, files)) {
    try {
      for (const dir of dirs.toReversed()) {
        const found = await findAgent(files, dir, name);
        if (found === undefined) continue;
        lines.push({ name, description: await describe(found, files) });
        break;
      }
    } catch {}
  }
  return lines;
}

async function listAgents(dirs: readonly string[], files: AgentFiles): Promise<string[]> {
  /** From the lower-case name to the spelling with the highest precedence. */
  const names = new Map<string, string>();
  for (const dir of dirs) {
    for (const entry of await namesIn(dir, files)) {
      const found = await findAgent(files, dir, entry).catch(() => undefined);
      if (found !== undefined) names.set(entry.toLowerCase(), entry);
    }
  }
  return [...names.values()].sort();
}

/** What could be agents, by name. */
export async function namesIn(dir: string, files: AgentFiles): Promise<readonly string[]> {
  const listed = ((await ifThere(files.list(dir))) ?? []).filter(isName).slice(0, MAX_DEFINITIONS);
  const names = new Set(listed.map((each) => each.replace(/\.md$/i, "")));
  return [...names].filter((name) => !RESERVED.has(name.toLowerCase()));
}
