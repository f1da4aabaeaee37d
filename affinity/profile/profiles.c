/*
 * profiles.c - the machines that come with the project. Their structure is the
 * published one of a machine of that kind; sizes of memory are round numbers.
 */
#include "affinity/profile/profile.h"

const struct sb_profile sb_profiles[] = {
	{ .name = "epyc-2s-nps4",
	  .description = "two EPYC 9554 of 64 cores, SMT, four nodes a socket, caches of 8 cores",
	  .source = "AMD's description of EPYC 9004; distances of its firmware",
	  .synthetic = "pack:2 numa:4(memory=64GiB) l3:2(size=32MiB) l2:8(size=1MiB) "
		       "l1:1(size=32KiB) core:1 pu:2(indexes=128*1:2*128)",
	  .distances = "10 12 12 12 32 32 32 32 12 10 12 12 32 32 32 32 12 12 10 12 32 32 32 32 12 "
		       "12 12 10 32 32 32 32 32 32 32 32 10 12 12 12 32 32 32 32 12 10 12 12 32 32 "
		       "32 32 12 12 10 12 32 32 32 32 12 12 12 10" },
	{ .name = "xeon-2s",
	  .description = "two Xeon Gold 6248 of 20 cores, SMT",
	  .source = "Intel's description of Xeon Gold 6248",
	  .synthetic = "pack:2 [numa(memory=96GiB)] l3:1(size=27MiB) l2:20(size=1MiB) "
		       "l1:1(size=32KiB) core:1 pu:2(indexes=40*1:2*40)",
	  .distances = "10 21 21 10" },
	{ .name = "altra-1s",
	  .description =
		  "Ampere Altra Q80: 80 cores, no SMT, no shared cache that the system shows",
	  .source = "Ampere's description of Altra",
	  .synthetic =
		  "pack:1 [numa(memory=256GiB)] l2:80(size=1MiB) l1:1(size=64KiB) core:1 pu:1" },
	{ .name = "spr-2s-snc4",
	  .description = "two Xeon Platinum 8480+ of 56 cores (Sapphire Rapids), SMT, sub-NUMA "
			 "clusters of 14",
	  .source = "Intel's description of Xeon Platinum 8480+ with SNC4",
	  .synthetic = "pack:2 l3:1(size=105MiB) numa:4(memory=64GiB) l2:14(size=2MiB) "
		       "l1:1(size=48KiB) core:1 pu:2(indexes=112*1:2*112)",
	  .distances = "10 12 12 12 21 21 21 21 12 10 12 12 21 21 21 21 12 12 10 12 21 21 21 21 12 "
		       "12 12 10 21 21 21 21 21 21 21 21 10 12 12 12 21 21 21 21 12 10 12 12 21 21 "
		       "21 21 12 12 10 12 21 21 21 21 12 12 12 10" },
	{ .name = "laptop-6p8e",
	  .description = "Core i7-12700H: 6 P cores with SMT, 8 E cores in two clusters (but all "
			 "L2 caches of 2 MiB)",
	  .source = "Intel's description of Core i7-12700H",
	  .synthetic = "pack:1 [numa(memory=16GiB)] l3:1(size=24MiB) l2:8(size=2MiB) core:4 "
		       "pu:2(indexes=0,1,20,21,22,23,24,25,2,3,26,27,28,29,30,31,4,5,32,33,34,35,"
		       "36,37,6,7,38,39,40,41,42,43,8,9,44,45,46,47,48,49,10,11,50,51,52,53,54,55,"
		       "12,56,13,57,14,58,15,59,16,60,17,61,18,62,19,63)",
	  .only = "0-19",
	  .fast = "0-11" },
	{ .name = "graviton3",
	  .description = "AWS Graviton3: 64 cores, no SMT, one node",
	  .source = "AWS's description of Graviton3",
	  .synthetic = "pack:1 [numa(memory=128GiB)] l3:1(size=32MiB) l2:64(size=1MiB) "
		       "l1:1(size=64KiB) core:1 pu:1" },
	{ .name = "ring-4s",
	  .description = "four sockets of 12 cores, SMT, joined in a ring: the one across is two "
			 "hops away",
	  .source = "made up, after four-socket Xeon E5-4600",
	  .synthetic = "pack:4 [numa(memory=64GiB)] l3:1(size=30MiB) l2:12(size=256KiB) "
		       "l1:1(size=32KiB) core:1 pu:2(indexes=48*1:2*48)",
	  .distances = "10 21 31 21 21 10 21 31 31 21 10 21 21 31 21 10" },
	{ .name = "cxl-2s",
	  .description = "two sockets of 16 cores, SMT, each with memory of its own and a node of "
			 "memory alone",
	  .source = "made up, after servers with CXL memory",
	  .synthetic =
		  "pack:2 [numa(memory=128GiB indexes=2*1)] [numa(memory=64GiB)] l3:1(size=32MiB) "
		  "l2:16(size=1MiB) l1:1(size=32KiB) core:1 pu:2(indexes=32*1:2*32)" },
	{ .name = "desktop-2ccd",
	  .description = "Ryzen 9 7950X: two caches of 8 cores, SMT",
	  .source = "AMD's description of Ryzen 9 7950X",
	  .synthetic = "pack:1 [numa(memory=64GiB)] l3:2(size=32MiB) l2:8(size=1MiB) "
		       "l1:1(size=32KiB) core:1 pu:2(indexes=16*1:2*16)" },
	{ .name = "power9-2s",
	  .description = "two POWER9 of 20 cores, 4 threads each, caches of two cores",
	  .source = "IBM's description of Power AC922",
	  .synthetic = "pack:2 [numa(memory=128GiB)] l3:10(size=10MiB) l2:1(size=512KiB) core:2 "
		       "l1:1(size=32KiB) pu:4",
	  .distances = "10 40 40 10" },
	{ .name = NULL },
};
