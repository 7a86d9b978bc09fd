/** The name by which rules match the mounting of a server. */
export const MOUNT_TOOL = "mount";
