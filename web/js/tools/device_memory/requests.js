// @ts-check
// What this tool asks the server for; the words for errors are api.js's.
import * as api from "../../api.js";

/** The device memory profiles of a session. */
export const fetchFiles = (session, signal) => api.fetchDeviceMemory(session, signal);

/** query: session, file, frames */
export const fetchProfile = (query, signal) => api.fetchDeviceMemoryProfile(query, signal);
