import { journalContract } from "../contract.ts";
import { MemoryDisk, openMemoryJournal } from "./memory.ts";

journalContract("memory", () => {
  const disk = new MemoryDisk();
  return { open: async () => openMemoryJournal(disk), remove: async () => {} };
});
