/* Members of NumPy's .npz archives, which are zip files of .npy files: numpy.savez("m.npz", Q=Q)
 * makes m.npz with the member Q.npy, and m.npz:Q names it here. */
#ifndef GBS_IO_NPZ_H
#define GBS_IO_NPZ_H

#include "io/error.h"
#include "io/file.h"

#include <stddef.h>

/* The length of PATH's part that names a file: all of it, or what stands before ":MEMBER" where
 * PATH is ARCHIVE.npz:MEMBER and no file has that whole name. */
size_t gbs_npz_file_length(const char *path);

/* Opens a file as gbs_input_open_checked does; of a zip archive the member that the path names, or
 * its only one, unpacked into memory that grows with what really arrives. Owns: as gbs_input_open.
 * Fails: FILE; MEMORY; CONTENT: the file is no archive though a member is named, has no such member
 * (its members are listed), has several and none is named, or cannot be unpacked. */
gbs_io_status gbs_npz_input_open(gbs_input *input, const char *path, gbs_input_check *check,
                                 gbs_io_error *error);

/* The same from an archive that is already open, which stays open; member NULL for its only one. */
gbs_io_status gbs_npz_member(gbs_input *archive, const char *path, const char *member,
                             gbs_input *input, gbs_io_error *error);

#endif
