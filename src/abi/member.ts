/** The members of a compose project, its running services, and the names by which they send messages to one another. */
import type { Pid } from "./ids.ts";

/** A process that is a replica of a service, according to the kernel's own records. */
export interface Member {
  readonly pid: Pid;
  readonly project: string;
  readonly service: string;
  /** From 1. */
  readonly replica: number;
  /** Whether its compose file lets members send messages to one another. */
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
 * The members that a receiver names: by pid, by service, or by service and replica. A number is always a pid, even if a
 * service has the same name. Several results: the name is ambiguous.
 */
export function membersNamed<M extends Pick<Member, "pid" | "service" | "replica">>(
  members: readonly M[],
  to: string,
): readonly M[] {
  const pid = findPid(to);
  if (pid !== undefined) return members.filter((member) => member.pid === pid);
  return members.filter((member) => member.service === to || memberName(member) === to);
}
