/** /dev/null: accepts all writes, returns no data. */
import type { Device, FileStat, OpenFile } from "../../abi/device.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";

const stat: FileStat = { name: "null", size: 0, isDevice: true, devicePath: "/dev/null" };

const file: OpenFile = {
  async read(_length, signal) {
    throwIfAborted(signal, "Read");
    return new Uint8Array(0);
  },
  async write(_bytes, act) {
    throwIfAborted(act.signal, "Write");
  },
  async close() {},
  stat: async () => stat,
};

export const nullDevice: Device = {
  name: "null",
  traffic: "byte",
  async open(subpath) {
    if (subpath !== "") throw driverError("Open", "NOT_FOUND", `file not found: /dev/null${subpath}`);
    return file;
  },
  async stat(subpath) {
    if (subpath !== "") throw driverError("Stat", "NOT_FOUND", `file not found: /dev/null${subpath}`);
    return stat;
  },
};
