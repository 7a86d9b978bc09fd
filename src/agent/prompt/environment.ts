/** The description of the process's environment: the dynamic part of its system prompt. */
import type { Confinement, Surroundings } from "../../abi/surroundings.ts";

export interface Place {
  readonly cwd: string;
  readonly day: string;
  readonly platform: string;
}

/** Built once per process, so that its bytes stay the same from request to request. */
export function environmentText(place: Place, around?: Surroundings): string {
  const { cwd, day, platform } = place;
  const lines = [`Working directory: ${cwd}`, `Date: ${day}`, `Platform: ${platform}`];
  if (around === undefined) return lines.join("\n");
  const { scratch, scratchpad, confinement, git } = around;
  lines.push("Shell: bash");
  if (scratch !== "")
    lines.push(
      `Scratch folder: ${scratch}, in commands also $CRUX_SCRATCH${alias(confinement)}; for files that nobody keeps`,
    );
  if (scratchpad !== undefined)
    lines.push(
      `Scratchpad: ${scratchpad}; all agents of this session read and write it unasked. It has no links and goes with the session`,
    );
  lines.push(`Sandbox: ${sandboxText(confinement)}`);
  if (git !== "") lines.push(git);
  return lines.join("\n");
}

/** Rules, unlike mounts, cannot put a folder in the place of another. */
function alias(confinement: Confinement | null): string {
  if (confinement === null) return "";
  return confinement.kind === "landlock" ? " and $TMPDIR (/tmp is closed)" : " and /tmp";
}

/** More writable folders than this are counted, not named. */
const MAX_FOLDERS = 8;

function sandboxText(confinement: Confinement | null): string {
  if (confinement === null) return "off; commands run with the user's own rights";
  const { write } = confinement;
  const more = write.length > MAX_FOLDERS ? [`${write.length - MAX_FOLDERS} more`] : [];
  const places = [...write.slice(0, MAX_FOLDERS), ...more, "the scratch folder"].join(", ");
  return (
    `commands may write only in ${places}; the rest is read-only or hidden. ` +
    `${networkText(confinement)} What goes beyond asks the user, or is refused.`
  );
}

const MAX_HOSTS = 12;

function networkText({ network, kind }: Confinement): string {
  if (network === "host") return "Commands have the network of the host.";
  // rules let nobody through to single hosts
  if (network === "off" || kind === "landlock") return "Commands have no network.";
  const hosts = network.allow.slice(0, MAX_HOSTS).join(", ");
  const more = network.allow.length > MAX_HOSTS ? ` and ${network.allow.length - MAX_HOSTS} more` : "";
  return `Commands reach only ${hosts}${more}.`;
}
