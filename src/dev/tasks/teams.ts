/** /var/teams: the configuration of the caller's team, `/var/teams/<team>/config.json`, made when it is read. */
import type { Caller, Device, FileStat } from "../../abi/device.ts";
import { O_RDONLY } from "../../abi/device.ts";
import { jsonBytes } from "../answer.ts";
import { driverError, type FileOp } from "../driver-error.ts";
import { snapshotFile } from "../snapshot.ts";

const MOUNT = "/var/teams";

/** The team of a process; null: it is in none. */
type FindTeam = (caller: Pick<Caller, "pid">) => { readonly name: string; readonly config: object } | null;

export function teamsDevice(find: FindTeam): Device {
  const contentOf = (subpath: string, caller: Caller, op: FileOp): Uint8Array => {
    const team = find(caller);
    if (subpath === "") return jsonBytes(team === null ? [] : [team.name]);
    if (team !== null && subpath === `/${team.name}`) return jsonBytes(["config.json"]);
    if (team !== null && subpath === `/${team.name}/config.json`) return jsonBytes(team.config);
    throw driverError(op, "NOT_FOUND", `file not found: ${MOUNT}${subpath}`);
  };
  const statOf = (subpath: string, size: number): FileStat => {
    const name = subpath.slice(subpath.lastIndexOf("/") + 1) || "teams";
    return { name, size, isDevice: false, devicePath: MOUNT };
  };
  return {
    name: "teams",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (flags !== O_RDONLY)
        throw driverError("Open", "INVALID", `${MOUNT} can only be read: team_create changes it`);
      const content = contentOf(subpath, caller, "Open");
      return snapshotFile(content, statOf(subpath, content.byteLength));
    },
    stat: async (subpath, caller) => statOf(subpath, contentOf(subpath, caller, "Stat").byteLength),
    openEffects: (subpath) => [{ kind: "state", path: MOUNT + subpath }],
  };
}
