/** Opens regular host files only: a device, FIFO or socket may block, never end, or act when opened. */
import { type BigIntStats, constants } from "node:fs";
import { access, type FileHandle, lstat, open } from "node:fs/promises";
import { driverError, errnoOf, type FileOp } from "../driver-error.ts";
import { moved, placeOf } from "../folder.ts";

/**
 * The entry at a real path; undefined: no entry. INVALID: neither a file nor a directory. `at`: its path by way of an open folder.
 */
export async function findEntry(real: string, op: FileOp, at = real): Promise<BigIntStats | undefined> {
  const stats = await lstatOrUndefined(at);
  if (stats !== undefined && !stats.isFile() && !stats.isDirectory())
    throw driverError(op, "INVALID", `not a regular file: ${real}`);
  return stats;
}

/** Like findEntry, for calls that accept only files. */
export async function findFile(real: string, op: FileOp, at = real): Promise<BigIntStats | undefined> {
  const stats = await findEntry(real, op, at);
  if (stats?.isDirectory()) throw driverError(op, "INVALID", `is a directory: ${real}`);
  return stats;
}

/**
 * Like findFile, for a file that will be replaced. A rename needs only the directory's permission; the file's own is
 * checked here: PERMISSION.
 */
export async function findWritable(real: string, op: FileOp): Promise<BigIntStats | undefined> {
  const stats = await findFile(real, op);
  if (stats !== undefined) await access(real, constants.W_OK);
  return stats;
}

/**
 * Opens a file for reading. The links of `real` are already resolved; CONFLICT: the path was replaced by a link
 * meanwhile.
 */
export async function openToRead(real: string, op: FileOp): Promise<FileHandle> {
  if ((await findFile(real, op)) === undefined) throw driverError(op, "NOT_FOUND", `file not found: ${real}`);
  return openChecked(real, { flags: constants.O_RDONLY | constants.O_NONBLOCK }, op);
}

/** The whole file that a call changes. */
export async function bytesOf(real: string): Promise<Buffer> {
  await using handle = await openToRead(real, "Write");
  return await handle.readFile();
}

/** Arguments of open(2); `mode` is used if the file is created, `at` is its path by way of an open folder. */
interface OpenHow {
  readonly flags: number;
  readonly mode?: number;
  readonly at?: string;
}

/** Opens the file exactly at `real`. The caller owns the handle. */
export async function openChecked(
  real: string,
  { flags, mode = 0, at = real }: OpenHow,
  op: FileOp,
): Promise<FileHandle> {
  const handle = await open(at, flags | constants.O_NOFOLLOW, mode).catch((error: unknown) => {
    throw errnoOf(error) === "ELOOP" ? moved(real, op) : error;
  });
  try {
    if (!(await handle.stat()).isFile()) throw driverError(op, "INVALID", `not a regular file: ${real}`);
    if (!liesAt(handle, real)) throw moved(real, op);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** False if a directory of the path was replaced by a link after it was resolved. True if the host cannot tell. */
function liesAt(handle: FileHandle, real: string): boolean {
  const place = placeOf(handle.fd);
  return place === undefined || place === real;
}

async function lstatOrUndefined(real: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(real, { bigint: true });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") return undefined;
    throw error;
  }
}
