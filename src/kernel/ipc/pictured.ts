/** The words of a message with pictures, in which each has a line. Only the user's messages have some. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { withPictureLines, wrongPictures } from "../../abi/media/pictures.ts";
import type { MediaPart } from "../../abi/tool.ts";

/** PERMISSION: the caller is not the user. INVALID: they exceed the bounds. */
export function pictured(
  { pid, syscall }: { readonly pid: Pid; readonly syscall: string },
  words: string,
  media: readonly MediaPart[],
): string {
  const refuse = (code: "INVALID" | "PERMISSION", message: string): SyscallError =>
    new SyscallError({ syscall, pid, code, message });
  if (pid !== PID_KERNEL) throw refuse("PERMISSION", "only a message of the user has pictures");
  const wrong = wrongPictures(media);
  if (wrong !== undefined) throw refuse("INVALID", wrong);
  return withPictureLines(words, media);
}
