/** The checks without the daemon: versions, programs, folders, the disk, and the configured model drivers. */
import { readdirSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../../abi/errors.ts";
import type { SandboxKind } from "../../../abi/sandbox.ts";
import { journalDir, stateDir } from "../../../lib/paths.ts";
import { findOnPath } from "../../../lib/program-file.ts";
import type { Host } from "../../host/host.ts";

export interface Finding {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly words: string;
  /** The command to type. */
  readonly remedy?: string;
  /** Of a sandbox: its kind, and what that does not promise. */
  readonly kind?: SandboxKind;
  readonly not_promised?: readonly string[];
}

const NODE_MAJOR = 24;
const MIB = 1024 * 1024;
/** With less free space the journal may refuse records at any time. */
const FAIL_BYTES = 100 * MIB;
const WARN_BYTES = 1024 * MIB;

export function localFindings(host: Host): readonly Finding[] {
  return [
    versions(host),
    program(host, "git", "agents read states and differences with it"),
    ...disk(host),
    models(host),
  ];
}

function versions({ version }: Host): Finding {
  const { node } = process.versions;
  const isNew = Number(node.split(".")[0]) >= NODE_MAJOR;
  return {
    name: "version",
    state: isNew ? "ok" : "fail",
    words: `crux v${version}, Node ${node}`,
    ...(isNew ? {} : { remedy: `run crux with Node ${NODE_MAJOR} or newer, as bin/crux does` }),
  };
}

function program({ env }: Host, name: string, why: string): Finding {
  const path = findOnPath(name, env.PATH);
  if (path !== undefined) return { name, state: "ok", words: path };
  return { name, state: "warn", words: `not on PATH; ${why}`, remedy: `install ${name}` };
}

/** The file system of the state directory, and the size of the journal on it. */
function disk({ env }: Host): readonly Finding[] {
  const state = stateDir(env, env.HOME ?? "");
  try {
    const { bavail, bsize } = statfsSync(existing(state));
    const free = bavail * bsize;
    const words = `${size(free)} free for ${state}; the journal takes ${size(bytesIn(journalDir(state)))}`;
    const remedy = "free some space, or crux gc removes old histories";
    if (free < FAIL_BYTES) return [{ name: "disk", state: "fail", words, remedy }];
    return [{ name: "disk", state: free < WARN_BYTES ? "warn" : "ok", words, remedy }];
  } catch (error) {
    const remedy = "set XDG_STATE_HOME to a folder that can be written";
    return [{ name: "disk", state: "fail", words: `${state}: ${messageOf(error)}`, remedy }];
  }
}

/** The nearest existing folder at or above the path. */
function existing(path: string): string {
  let at = path;
  while (at !== "/" && statSync(at, { throwIfNoEntry: false }) === undefined) at = dirname(at);
  return at;
}

function bytesIn(dir: string): number {
  try {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce(
        (sum, { parentPath, name }) =>
          sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
  } catch {
    return 0;
  }
}

function size(bytes: number): string {
  return bytes >= 1024 * MIB ? `${(bytes / (1024 * MIB)).toFixed(1)} GiB` : `${Math.round(bytes / MIB)} MiB`;
}

/** The model drivers that this environment configures. */
function models({ env }: Host): Finding {
  const has = (name: string): boolean => (env[name] ?? "") !== "";
  const found = [
    ...(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"].some(has) ? ["anthropic"] : []),
    ...(has("OPENAI_API_KEY") ? [has("OPENAI_BASE_URL") ? "openai (with OPENAI_BASE_URL)" : "openai"] : []),
    ...(["GEMINI_API_KEY", "GOOGLE_API_KEY"].some(has) ? ["gemini"] : []),
    ...(has("XAI_API_KEY") ? ["xai"] : []),
    ...(findOnPath("claude", env.PATH) === undefined ? [] : ["claude (the program)"]),
    ...(has("AWS_BEARER_TOKEN_BEDROCK") ? ["bedrock"] : []),
    ...(has("ANTHROPIC_VERTEX_PROJECT_ID") ? ["vertex"] : []),
    ...(has("VLLM_BASE_URL") ? ["vllm (from VLLM_BASE_URL)"] : []),
    ...(has("OLLAMA_HOST") ? ["ollama (from OLLAMA_HOST)"] : []),
  ];
  if (found.length > 0) return { name: "model", state: "ok", words: `set up: ${found.join(", ")}` };
  const remedy =
    "export ANTHROPIC_API_KEY=…, GEMINI_API_KEY=…, XAI_API_KEY=…, or OPENAI_API_KEY=… (with OPENAI_BASE_URL also Ollama, vLLM), or install claude";
  return { name: "model", state: "warn", words: "none is set up in this terminal", remedy };
}
