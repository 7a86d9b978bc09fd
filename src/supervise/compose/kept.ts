/**
 * What the journal keeps of a compose project: where its file is, and by which definitions its services run, as digests: a
 * definition holds the values of variables, which may be secrets.
 */
import { hash } from "node:crypto";
import type { ComposeProject } from "../../abi/compose/compose.ts";
import type { ProjectSource } from "../../kernel/ports/projects.ts";
import { signatureOf } from "./change.ts";

export interface KeptProject {
  readonly name: string;
  /** null: whoever brought it up did not say where its file is. */
  readonly source: ProjectSource | null;
  /** Makes the digests worthless elsewhere. */
  readonly salt: string;
  readonly digests: Readonly<Record<string, string>>;
  /** Its services may write to one another. Absent: they may not; before there was such a thing none could. */
  readonly messages?: true;
}

/** `signatures`: by service. */
export function keptProject(
  project: Omit<KeptProject, "digests">,
  signatures: ReadonlyMap<string, string>,
): KeptProject {
  const digests = [...signatures].map(([name, each]) => [name, digestOf(project.salt, each)] as const);
  return { ...project, digests: Object.fromEntries(digests) };
}

function digestOf(salt: string, signature: string): string {
  return hash("sha256", `${salt}\n${signature}`);
}

/** By service: why it is not started by what the file says now. Those that are not named are as they were. */
export function differences(kept: KeptProject, file: ComposeProject): ReadonlyMap<string, string> {
  const now = new Map(file.services.map((service) => [service.name, signatureOf(service, file)]));
  const reasons = new Map<string, string>();
  for (const [name, digest] of Object.entries(kept.digests)) {
    const signature = now.get(name);
    if (signature === undefined) reasons.set(name, "it is no longer in the compose file");
    else if (digestOf(kept.salt, signature) !== digest)
      reasons.set(name, "its definition, or a variable in it, differs from the one it was started with");
  }
  return reasons;
}
