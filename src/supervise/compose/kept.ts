/**
 * What the journal keeps of a compose project: the path of its file, and digests of the definitions of its running
 * services. Only digests, because a definition contains values of variables, which may be secrets.
 */
import { hash } from "node:crypto";
import type { ComposeProject } from "../../abi/compose/compose.ts";
import type { ProjectSource } from "../../kernel/ports/projects.ts";
import { signatureOf } from "./change.ts";

export interface KeptProject {
  readonly name: string;
  /** null: the client that brought it up did not name its file. */
  readonly source: ProjectSource | null;
  /** Part of each digest, so that digests cannot be compared with those of other projects. */
  readonly salt: string;
  readonly digests: Readonly<Record<string, string>>;
  /** Its services may send messages to one another. Absent: they may not; also in records of older versions. */
  readonly messages?: true;
}

/** `signatures`: of the definitions, by service. */
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

/** By service: the reason why it is not started with its present definition. Services not included are unchanged. */
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
