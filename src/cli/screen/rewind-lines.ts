import type { Result } from "../../abi/methods/methods.ts";
import { safeLine } from "./text/safe-text.ts";
import { shownPath } from "./text/shown-path.ts";

type Done = Result<"process.rewind">;
type File = Done["files"][number];

const DEED_COLUMNS = "recreated".length;
const COMMANDS_NAMED = 3;

/** The output of `crux rewind`: a line for each file, what it cannot restore, and where the process continues. */
export function rewindLines(done: Done, cwd: string): string[] {
  const { files, command_count: count, commands, fork, pid } = done;
  return [
    ...files.map((file) => fileLine(file, cwd)),
    ...(count === 0 ? [] : [commandsLine(count, commands)]),
    ...(fork === null
      ? []
      : [
          `[rewind] PID ${pid} at ${placeOf(done)} continues as PID ${fork.pid}, which rests; crux -r ${fork.pid}`,
        ]),
  ];
}

function fileLine({ path, deed, reason, insertions, deletions }: File, cwd: string): string {
  const lines = [insertions > 0 ? ` +${insertions}` : "", deletions > 0 ? ` -${deletions}` : ""].join("");
  const why = reason === "" ? "" : ` (${safeLine(reason)})`;
  return `${deed.padEnd(DEED_COLUMNS)}  ${shownPath(path, cwd)}${lines}${why}`;
}

function commandsLine(count: number, commands: readonly string[]): string {
  const named = commands.slice(-COMMANDS_NAMED).map(safeLine);
  const more = count > named.length ? [`and ${count - named.length} more`] : [];
  const ran = count === 1 ? "1 command ran" : `${count} commands ran`;
  return `[rewind] ${ran} since, and what they changed is not put back: ${[...named.reverse(), ...more].join("; ")}`;
}

function placeOf({ step, seq }: Done): string {
  return step === null ? `record ${seq}` : `step ${step}`;
}
