/** What a process is given of the environment of this command: all but what would take our place at the socket, or our token. */
export function clientEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !/^(?:CRUX|KAIRO)_IPC_/.test(name)) kept[name] = value;
  return kept;
}
