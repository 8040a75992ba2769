// SPDX-License-Identifier: GPL-2.0
/* base/hash.h: SipHash-1-3 against values of its published implementation; the key is another in each process.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/base/hash.h"
#include "tap.h"

/* Of the bytes 0, 1, 2, ... under the key of the bytes 0 to 15. */
static u64 of_counting_bytes(size_t len)
{
	unsigned char bytes[64], key_bytes[16];
	u64 key[2];

	for (unsigned char i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	for (unsigned char i = 0; i < sizeof(key_bytes); i++)
		key_bytes[i] = i;
	memcpy(key, key_bytes, sizeof(key));
	return hash_under(key, bytes, len);
}

static void test_values(void)
{
	ok(of_counting_bytes(0) == 0xabac0158050fc4dcULL, "hash of nothing is SipHash-1-3's");
	ok(of_counting_bytes(1) == 0xc9f49bf37d57ca93ULL, "hash of one byte is SipHash-1-3's");
	ok(of_counting_bytes(8) == 0x369095118d299a8eULL, "hash of a word is SipHash-1-3's");
	ok(of_counting_bytes(15) == 0xd320d86d2a519956ULL, "hash of fifteen bytes is SipHash-1-3's");
	ok(of_counting_bytes(63) == 0x9d199062b7bbb3a8ULL, "hash of sixty-three bytes is SipHash-1-3's");
}

/* What another process of this program has for the same name. */
static u64 elsewhere(const char *program)
{
	char command[4096];
	unsigned long long hash = 0;
	FILE *other;

	snprintf(command, sizeof(command), "%s hash", program);
	other = popen(command, "re");
	if (!other || fscanf(other, "%llx", &hash) != 1)
		hash = 0;
	if (other)
		pclose(other);
	return hash;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		printf("%llx\n", (unsigned long long)hash_keyed("name", 4));
		return 0;
	}
	test_values();
	ok(hash_keyed("name", 4) == hash_keyed("name", 4), "hash of a name stays the same in a process");
	ok(hash_keyed("name", 4) != hash_keyed("mane", 4), "hashes of two names differ");
	ok(elsewhere(argv[0]) != hash_keyed("name", 4), "hash of a name is another in another process");
	ok(elsewhere(argv[0]) != elsewhere(argv[0]), "hash of a name is another in each process");
	return tap_end();
}
