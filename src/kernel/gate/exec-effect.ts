/** Starting a host program as an effect: what it runs, where, and with which variables. */
import type { Effect } from "../../abi/effects.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { checkCommand } from "../native/command.ts";
import type { Process } from "../process/process.ts";

/**
 * INVALID: not a command that the host accepts. Only variables that differ from the caller's are put before the
 * command.
 */
export function execEffect(
  self: Process,
  command: readonly string[],
  opts: Pick<SpawnOpts, "cwd" | "env" | "options">,
): Extract<Effect, { kind: "exec" }> {
  checkCommand(command);
  const { options = {} } = opts;
  const changes = [...changesOf(self.seed.env, opts.env), ...assignments(options.env ?? {})];
  const argv = changes.length === 0 ? command : ["env", ...changes, ...command];
  return { kind: "exec", argv, cwd: options.cwd ?? opts.cwd ?? self.cwd, certain: true };
}

type Environment = Readonly<Record<string, string>>;

/** The differences as arguments of `env`. The caller may not unset the kernel's own variables. */
function changesOf(own: Environment, given: Environment | undefined): readonly string[] {
  if (given === undefined) return [];
  const set = Object.entries(given).filter(([name, value]) => own[name] !== value);
  const dropped = Object.keys(own).filter((name) => given[name] === undefined && !name.startsWith("CRUX_"));
  return [...dropped.flatMap((name) => ["-u", name]), ...assignments(Object.fromEntries(set))];
}

function assignments(variables: Environment): readonly string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}
