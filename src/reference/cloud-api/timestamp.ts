/** RFC 3339 in UTC to the second, as the reference's timestamps (section 2). */
export const timestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
