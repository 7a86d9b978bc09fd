/** The services of one compose project as members of it, and the names by which they write to one another. */
import type { Pid } from "./ids.ts";

/** A process that is a replica of a service, as the kernel's own records have it. */
export interface Member {
  readonly pid: Pid;
  readonly project: string;
  readonly service: string;
  /** From 1. */
  readonly replica: number;
  /** Its compose file lets members write to one another. */
  readonly mayWrite: boolean;
}

/** `writer-1` */
export function memberName({ service, replica }: Pick<Member, "service" | "replica">): string {
  return `${service}-${replica}`;
}

/** `7`, `pid 7` */
export function findPid(text: string): number | undefined {
  const [, digits] = /^(?:pid )?([1-9]\d{0,14})$/.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Those that a receiver names: by pid, by service, by service and replica. A number is a pid, whatever a service is called.
 * Several: the name is ambiguous.
 */
export function membersNamed<M extends Pick<Member, "pid" | "service" | "replica">>(
  members: readonly M[],
  to: string,
): readonly M[] {
  const pid = findPid(to);
  if (pid !== undefined) return members.filter((member) => member.pid === pid);
  return members.filter((member) => member.service === to || memberName(member) === to);
}
