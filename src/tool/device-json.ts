/** Sends one JSON request to a device of Crux and returns its JSON answer. */
import { O_RDWR } from "../abi/device.ts";
import { type Io, readToEnd, withFile } from "./files.ts";

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export async function askDevice<T>(io: Io, path: string, request: unknown): Promise<T> {
  return withFile(io, path, O_RDWR, async (fd) => {
    await io.sys.write(fd, Buffer.from(JSON.stringify(request)), io.signal);
    return JSON.parse((await readToEnd(io, fd, MAX_ANSWER_BYTES)).toString("utf8")) as T;
  });
}
