/**
 * The origins of what a call reads: the labels that its process has from then on. Only known reads count: a command
 * that cannot be read in full may read more, which is bounded by its network access.
 */
import type { Effect } from "../../abi/effects.ts";
import type { Label } from "../../abi/labels.ts";
import type { Origins } from "../../kernel/ports/permit.ts";
import { isGivenBy, isInside } from "../rules/paths.ts";
import { findProtection } from "../rules/protected.ts";
import { operandPath } from "../shell/operand-path.ts";
import { readOnlyOperands } from "../shell/read/read-only.ts";
import type { Part } from "../shell/unfold.ts";
import { type Case, formsOf } from "./case.ts";
import { accessesOf } from "./operand.ts";

/** Trusted places: files installed by the administrator, the user's instructions for agents, and Crux's own. */
const OF_THE_HOST = [
  "/usr",
  "/lib",
  "/lib64",
  "/bin",
  "/sbin",
  "/etc",
  "/opt",
  "/dev",
  "/proc",
  "/var/out",
  "/var/tasks",
  "/var/teams",
];
const OF_THE_USER = [".config/crux", ".claude", ".agents"];

/**
 * Words of commands that fetch data. Where the user has chosen not to confine commands, every command could fetch; then
 * only these count, or no agent could run two commands in a row.
 */
const BRINGS_IN =
  /\b(?:curl|wget|aria2c|http|https|nc|ncat|socat|telnet|ssh|scp|sftp|rsync|ftp|gh|glab|aws|gcloud|az|s3cmd|rclone|lynx|w3m|npx|(?:npm|pnpm|yarn|bun|pip3?|uv|cargo|go|gem|brew|apt|apt-get|dnf|docker|podman)\s+(?:\S+\s+)*?(?:add|ci|get|i|install|pull|run|search|update|view)|git\s+(?:\S+\s+)*?(?:clone|fetch|pull|ls-remote|remote|submodule))\b/;

/** Facts about a command. `network`: the network access of the sandbox it runs in. */
interface OriginFacts {
  readonly isReadOnly: () => boolean;
  readonly network: "off" | "some" | "all";
  readonly parts: readonly Part[];
}

export function originsOf(
  c: Case,
  effects: readonly Effect[],
  facts: (exec: Extract<Effect, { kind: "exec" }>) => OriginFacts,
): Origins {
  const found = new Found(c);
  for (const effect of effects) {
    switch (effect.kind) {
      case "network":
        found.add("untrusted", "web", effect.url ?? `${effect.host}:${effect.port}`);
        break;
      case "mcp":
        found.add("untrusted", "mcp", effect.server);
        break;
      case "read":
        found.read(effect.path, effect.real, effect.subtree === true);
        break;
      case "exec":
        found.run(effect, facts(effect));
        break;
      default:
    }
  }
  return found;
}

class Found implements Origins {
  readonly labels: Label[] = [];
  readonly reads: { path: string; isSubtree: boolean }[] = [];
  readonly writes: string[] = [];
  readonly #case: Case;

  constructor(c: Case) {
    this.#case = c;
  }

  add(kind: Label["kind"], source: Label["source"], detail: string): void {
    this.labels.push({ kind, source, detail });
  }

  read(path: string, real = this.#case.places.realPath(path), isSubtree = false): void {
    const forms = formsOf(path, real);
    this.reads.push({ path: real, isSubtree });
    const { protections } = this.#case.places;
    if (forms.some((form) => findProtection(protections, "read", form) !== undefined))
      this.add("secret", "file", path);
    if (!this.#isTrusted(real)) this.add("untrusted", "file", path);
  }

  /** A read-only command counts as one without network, whatever sandbox it runs in. */
  run(
    { argv, shell, cwd }: Extract<Effect, { kind: "exec" }>,
    { isReadOnly, network, parts }: OriginFacts,
  ): void {
    const text = shell ?? argv.join(" ");
    const isReached = network === "some" || (network === "all" && BRINGS_IN.test(text));
    if (isReached && !isReadOnly()) this.add("untrusted", "exec", text);
    for (const part of parts) this.#part(part, cwd);
  }

  #part({ levels, redirects, cwds }: Part, cwd: string): void {
    const words = (levels.at(-1) ?? []).flatMap(({ text }) => (text === null ? [] : [text]));
    const reads = readOnlyOperands(levels.at(-1) ?? []);
    const dirs = (cwds ?? [cwd]).filter((dir) => dir !== null);
    const absolute = (operand: string) => dirs.map((dir) => operandPath(dir, operand));
    for (const { path, subtree } of reads ?? [])
      if (path !== null) for (const each of absolute(path)) this.read(each, undefined, subtree);
    for (const { operand, access, isGuess } of reads === null ? accessesOf(words) : [])
      for (const each of absolute(operand)) {
        if (access === "write") this.#write(each);
        else if (isGuess !== true) this.read(each);
        // a guessed path counts as read, but is not itself labelled secret or untrusted
        else this.reads.push({ path: this.#case.places.realPath(each), isSubtree: false });
      }
    for (const { operator, target } of redirects)
      for (const each of typeof target?.text === "string" ? absolute(target.text) : []) {
        if (operator.includes(">")) this.#write(each);
        else this.read(each);
      }
  }

  #write(path: string): void {
    this.writes.push(this.#case.places.realPath(path));
  }

  #isTrusted(real: string): boolean {
    const { roots, free, places } = this.#case;
    const given = [...roots, ...free, ...places.skills, ...places.memory, ...OF_THE_HOST];
    if (isGivenBy(given, real)) return true;
    return OF_THE_USER.some((name) => isInside(`${places.home}/${name}`, real));
  }
}
