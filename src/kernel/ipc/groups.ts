/**
 * Process groups: created on first use, removed with the last member. Members see each other, so an existing group is
 * not open to all: only the user, its maker, a member, or an ancestor or descendant of a member may bring a process in.
 * So no process comes to see what was hidden from it and all its kin.
 */
import { Fault } from "../../abi/errors.ts";
import { asPgid, type Pgid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import type { GroupView } from "../ports/groups.ts";

/** The body of `group.join`. */
export interface GroupRecord {
  readonly group: Pgid;
  readonly name: string;
  readonly maker: Pid;
}

interface Group {
  readonly id: Pgid;
  readonly name: string;
  readonly maker: Pid;
  readonly members: Set<Pid>;
}

/** A process as groups see it. */
interface Member {
  readonly pid: Pid;
  readonly isLive: boolean;
}

const NO_GROUPS: ReadonlySet<Pgid> = new Set();
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
/** Joining this number creates a new group without a name. */
const NEW = 0;

export class Groups {
  readonly #isKin: (a: Pid, b: Pid) => boolean;
  readonly #byId = new Map<Pgid, Group>();
  readonly #byName = new Map<string, Group>();
  /** By the pid of a member; most processes are in no group. */
  readonly #ofMember = new Map<Pid, Set<Pgid>>();
  #last = 0;

  /** `isKin`: whether the two are the same process, or one is an ancestor of the other. */
  constructor(isKin: (a: Pid, b: Pid) => boolean) {
    this.#isKin = isKin;
  }

  /**
   * `by`: the process that brings `proc` in, and the maker of the group if it is new. INVALID: neither a name nor a
   * number. NOT_FOUND: no group with this number. PERMISSION: `by` may not let processes into this group. UNAVAILABLE:
   * full. CONFLICT: the process has ended.
   */
  join(proc: Member, ref: Pgid | string, by: Pid): Pgid {
    checkReference(ref);
    if (!proc.isLive) throw new Fault({ code: "CONFLICT", message: `process ${proc.pid} has ended` });
    const found = this.#get(ref);
    if (found === undefined && typeof ref === "number" && ref !== NEW) throw groupNotFound(ref);
    if (found?.members.has(proc.pid) === true) return found.id;
    if (found !== undefined) this.#checkEntry(found, ref, by);
    if (this.of(proc).size >= LIMITS.groupsPerProcess)
      throw full(`process ${proc.pid} is in ${LIMITS.groupsPerProcess} groups; it must leave one first`);
    if ((found?.members.size ?? 0) >= LIMITS.groupMembers)
      throw full(`a group has at most ${LIMITS.groupMembers} members`);
    const group = found ?? this.#make(typeof ref === "string" ? ref : "", by);
    this.#add(proc, group);
    return group.id;
  }

  /**
   * As join(), for a process that is being spawned. CONFLICT: a process that the user starts does not join a group made
   * by another process: the maker of that group would see the new process and may signal it.
   */
  joinNew(proc: Member, name: string, by: Pid): Pgid {
    const maker = this.#get(name)?.maker ?? PID_KERNEL;
    if (by !== PID_KERNEL || maker === PID_KERNEL) return this.join(proc, name, by);
    const message = `group ${name} was made by process ${maker}, which would see what joins it and may signal it; choose another name`;
    throw new Fault({ code: "CONFLICT", message });
  }

  /** Keeps a new group from getting this number: members of the group with this number may be restored later. */
  reserve(id: Pgid): void {
    this.#last = Math.max(this.#last, id);
  }

  /** Restores a membership as recorded, with the group's number and maker. The number was reserved, see `reserve`. */
  restore(proc: Member, { group: id, name, maker }: GroupRecord): void {
    this.#last = Math.max(this.#last, id);
    const group = this.#byId.get(id) ?? this.#enter({ id, name, maker, members: new Set() });
    this.#add(proc, group);
  }

  /** The groups that the process is in. */
  of({ pid }: Pick<Member, "pid">): ReadonlySet<Pgid> {
    return this.#ofMember.get(pid) ?? NO_GROUPS;
  }

  /** Returns the number of the group. NOT_FOUND: no such group, or not a member. */
  leave(proc: Member, ref: Pgid | string): Pgid {
    const group = this.#require(ref);
    if (!group.members.has(proc.pid)) {
      const message = `process ${proc.pid} is not a member of group ${ref}`;
      throw new Fault({ code: "NOT_FOUND", message });
    }
    this.#remove(proc, group);
    return group.id;
  }

  leaveAll(proc: Member): void {
    for (const id of this.of(proc)) {
      const group = this.#byId.get(id);
      if (group !== undefined) this.#remove(proc, group);
    }
  }

  /** Errors: NOT_FOUND. */
  find(ref: Pgid | string): GroupView & { readonly maker: Pid } {
    const group = this.#require(ref);
    return { ...viewOf(group), maker: group.maker };
  }

  /** The body of a `group.join` record. Errors: NOT_FOUND. */
  recordOf(id: Pgid): GroupRecord {
    const { name, maker } = this.#require(id);
    return { group: id, name, maker };
  }

  shareOne(a: Member, b: Member): boolean {
    return !this.of(a).isDisjointFrom(this.of(b));
  }

  list(): readonly GroupView[] {
    return [...this.#byId.values()].map(viewOf);
  }

  #get(ref: Pgid | string): Group | undefined {
    return typeof ref === "string" ? this.#byName.get(ref) : this.#byId.get(ref);
  }

  #require(ref: Pgid | string): Group {
    checkReference(ref);
    const found = this.#get(ref);
    if (found === undefined) throw groupNotFound(ref);
    return found;
  }

  #checkEntry({ maker, members }: Group, ref: Pgid | string, by: Pid): void {
    if (by === PID_KERNEL || by === maker) return;
    for (const member of members) if (this.#isKin(by, member)) return;
    const message = `group ${ref} is of others: its maker, a member, or the parent of one can let process ${by} in`;
    throw new Fault({ code: "PERMISSION", message });
  }

  #make(name: string, maker: Pid): Group {
    return this.#enter({ id: asPgid(++this.#last), name, maker, members: new Set() });
  }

  #enter(group: Group): Group {
    this.#byId.set(group.id, group);
    if (group.name !== "") this.#byName.set(group.name, group);
    return group;
  }

  #add({ pid }: Pick<Member, "pid">, group: Group): void {
    group.members.add(pid);
    this.#ofMember.set(pid, (this.#ofMember.get(pid) ?? new Set()).add(group.id));
  }

  #remove({ pid }: Pick<Member, "pid">, group: Group): void {
    group.members.delete(pid);
    const joined = this.#ofMember.get(pid);
    joined?.delete(group.id);
    if (joined?.size === 0) this.#ofMember.delete(pid);
    if (group.members.size > 0) return;
    this.#byId.delete(group.id);
    this.#byName.delete(group.name);
  }
}

export function groupNotFound(ref: Pgid | string): Fault {
  return new Fault({ code: "NOT_FOUND", message: `group not found: ${ref}`, fact: { kind: "no_group" } });
}

function checkReference(ref: Pgid | string): void {
  const isOne = typeof ref === "string" ? NAME.test(ref) : Number.isSafeInteger(ref) && ref >= 0;
  if (isOne) return;
  const message = `not a group: ${String(ref).slice(0, 80)}; a name has 1 to 64 of A-Z a-z 0-9 _ . - and begins with a letter or digit`;
  throw new Fault({ code: "INVALID", message });
}

function full(message: string): Fault {
  return new Fault({ code: "UNAVAILABLE", message });
}

function viewOf({ id, name, members }: Group): GroupView {
  return { id, name, pids: [...members].sort((a, b) => a - b) };
}
