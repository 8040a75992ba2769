// SPDX-License-Identifier: GPL-2.0
/* Tables of names, and how a command is put into words. */
#include "nvidia.h"

#include <string.h>

struct named {
	u32 number;
	const char *name;
};

static const struct named escapes[] = {
	{ 0x27, "RM_ALLOC_MEMORY" },
	{ 0x28, "RM_ALLOC_OBJECT" },
	{ 0x29, "RM_FREE" },
	{ 0x2a, "RM_CONTROL" },
	{ 0x2b, "RM_ALLOC" },
	{ 0x32, "RM_CONFIG_GET" },
	{ 0x33, "RM_CONFIG_SET" },
	{ 0x34, "RM_DUP_OBJECT" },
	{ 0x35, "RM_SHARE" },
	{ 0x37, "RM_CONFIG_GET_EX" },
	{ 0x38, "RM_CONFIG_SET_EX" },
	{ 0x39, "RM_I2C_ACCESS" },
	{ 0x41, "RM_IDLE_CHANNELS" },
	{ 0x4a, "RM_VID_HEAP_CONTROL" },
	{ 0x4d, "RM_ACCESS_REGISTRY" },
	{ 0x4e, "RM_MAP_MEMORY" },
	{ 0x4f, "RM_UNMAP_MEMORY" },
	{ 0x52, "RM_GET_EVENT_DATA" },
	{ 0x54, "RM_ALLOC_CONTEXT_DMA2" },
	{ 0x56, "RM_ADD_VBLANK_CALLBACK" },
	{ 0x57, "RM_MAP_MEMORY_DMA" },
	{ 0x58, "RM_UNMAP_MEMORY_DMA" },
	{ 0x59, "RM_BIND_CONTEXT_DMA" },
	{ 0x5c, "RM_EXPORT_OBJECT_TO_FD" },
	{ 0x5d, "RM_IMPORT_OBJECT_FROM_FD" },
	{ 0x5e, "RM_UPDATE_DEVICE_MAPPING_INFO" },
	{ 0x5f, "RM_LOCKLESS_DIAGNOSTIC" },
	{ 0xc8, "CARD_INFO" },
	{ 0xc9, "REGISTER_FD" },
	{ 0xce, "ALLOC_OS_EVENT" },
	{ 0xcf, "FREE_OS_EVENT" },
	{ 0xd1, "STATUS_CODE" },
	{ 0xd2, "CHECK_VERSION_STR" },
	{ 0xd3, "IOCTL_XFER_CMD" },
	{ 0xd4, "ATTACH_GPUS_TO_FD" },
	{ 0xd5, "QUERY_DEVICE_INTR" },
	{ 0xd6, "SYS_PARAMS" },
	{ 0xd7, "NUMA_INFO" },
	{ 0xd8, "SET_NUMA_STATUS" },
	{ 0xd9, "EXPORT_TO_DMABUF_FD" },
	{ 0xda, "WAIT_OPEN_COMPLETE" },
};

static const struct named uvm[] = {
	{ 1, "UVM_RESERVE_VA" },
	{ 2, "UVM_RELEASE_VA" },
	{ 3, "UVM_REGION_COMMIT" },
	{ 4, "UVM_REGION_DECOMMIT" },
	{ 5, "UVM_REGION_SET_STREAM" },
	{ 6, "UVM_SET_STREAM_RUNNING" },
	{ 7, "UVM_SET_STREAM_STOPPED" },
	{ 9, "UVM_RUN_TEST" },
	{ 10, "UVM_ADD_SESSION" },
	{ 11, "UVM_REMOVE_SESSION" },
	{ 12, "UVM_ENABLE_COUNTERS" },
	{ 13, "UVM_MAP_COUNTER" },
	{ 14, "UVM_CREATE_EVENT_QUEUE" },
	{ 15, "UVM_REMOVE_EVENT_QUEUE" },
	{ 16, "UVM_MAP_EVENT_QUEUE" },
	{ 17, "UVM_EVENT_CTRL" },
	{ 18, "UVM_REGISTER_MPS_SERVER" },
	{ 19, "UVM_REGISTER_MPS_CLIENT" },
	{ 20, "UVM_GET_GPU_UUID_TABLE" },
	{ 21, "UVM_REGION_SET_BACKING" },
	{ 22, "UVM_REGION_UNSET_BACKING" },
	{ 23, "UVM_CREATE_RANGE_GROUP" },
	{ 24, "UVM_DESTROY_RANGE_GROUP" },
	{ 25, "UVM_REGISTER_GPU_VASPACE" },
	{ 26, "UVM_UNREGISTER_GPU_VASPACE" },
	{ 27, "UVM_REGISTER_CHANNEL" },
	{ 28, "UVM_UNREGISTER_CHANNEL" },
	{ 29, "UVM_ENABLE_PEER_ACCESS" },
	{ 30, "UVM_DISABLE_PEER_ACCESS" },
	{ 31, "UVM_SET_RANGE_GROUP" },
	{ 33, "UVM_MAP_EXTERNAL_ALLOCATION" },
	{ 34, "UVM_FREE" },
	{ 35, "UVM_MEM_MAP" },
	{ 37, "UVM_REGISTER_GPU" },
	{ 38, "UVM_UNREGISTER_GPU" },
	{ 39, "UVM_PAGEABLE_MEM_ACCESS" },
	{ 40, "UVM_PREVENT_MIGRATION_RANGE_GROUPS" },
	{ 41, "UVM_ALLOW_MIGRATION_RANGE_GROUPS" },
	{ 42, "UVM_SET_PREFERRED_LOCATION" },
	{ 43, "UVM_UNSET_PREFERRED_LOCATION" },
	{ 44, "UVM_ENABLE_READ_DUPLICATION" },
	{ 45, "UVM_DISABLE_READ_DUPLICATION" },
	{ 46, "UVM_SET_ACCESSED_BY" },
	{ 47, "UVM_UNSET_ACCESSED_BY" },
	{ 51, "UVM_MIGRATE" },
	{ 53, "UVM_MIGRATE_RANGE_GROUP" },
	{ 56, "UVM_TOOLS_INIT_EVENT_TRACKER" },
	{ 57, "UVM_TOOLS_SET_NOTIFICATION_THRESHOLD" },
	{ 58, "UVM_TOOLS_EVENT_QUEUE_ENABLE_EVENTS" },
	{ 59, "UVM_TOOLS_EVENT_QUEUE_DISABLE_EVENTS" },
	{ 60, "UVM_TOOLS_ENABLE_COUNTERS" },
	{ 61, "UVM_TOOLS_DISABLE_COUNTERS" },
	{ 62, "UVM_TOOLS_READ_PROCESS_MEMORY" },
	{ 63, "UVM_TOOLS_WRITE_PROCESS_MEMORY" },
	{ 64, "UVM_TOOLS_GET_PROCESSOR_UUID_TABLE" },
	{ 65, "UVM_MAP_DYNAMIC_PARALLELISM_REGION" },
	{ 66, "UVM_UNMAP_EXTERNAL" },
	{ 67, "UVM_TOOLS_FLUSH_EVENTS" },
	{ 68, "UVM_ALLOC_SEMAPHORE_POOL" },
	{ 69, "UVM_CLEAN_UP_ZOMBIE_RESOURCES" },
	{ 70, "UVM_PAGEABLE_MEM_ACCESS_ON_GPU" },
	{ 71, "UVM_POPULATE_PAGEABLE" },
	{ 72, "UVM_VALIDATE_VA_RANGE" },
	{ 73, "UVM_CREATE_EXTERNAL_RANGE" },
	{ 74, "UVM_MAP_EXTERNAL_SPARSE" },
	{ 75, "UVM_MM_INITIALIZE" },
	{ 76, "UVM_TOOLS_INIT_EVENT_TRACKER_V2" },
	{ 77, "UVM_TOOLS_GET_PROCESSOR_UUID_TABLE_V2" },
	{ 78, "UVM_ALLOC_DEVICE_P2P" },
	{ 79, "UVM_CLEAR_ALL_ACCESS_COUNTERS" },
	{ 80, "UVM_DISCARD" },
	{ 0x30000001, "UVM_INITIALIZE" },
	{ 0x30000002, "UVM_DEINITIALIZE" },
};

static const struct named classes[] = {
	{ 0x0000, "NV01_ROOT" },
	{ 0x0002, "NV01_CONTEXT_DMA" },
	{ 0x0005, "NV01_EVENT" },
	{ 0x003e, "NV01_MEMORY_SYSTEM" },
	{ 0x0040, "NV01_MEMORY_LOCAL_USER" },
	{ 0x0041, "NV01_ROOT_CLIENT" },
	{ 0x0070, "NV01_MEMORY_VIRTUAL" },
	{ 0x0071, "NV01_MEMORY_SYSTEM_OS_DESCRIPTOR" },
	{ 0x0073, "NV04_DISPLAY_COMMON" },
	{ 0x0079, "NV01_EVENT_OS_EVENT" },
	{ 0x0080, "NV01_DEVICE_0" },
	{ 0x00de, "RM_USER_SHARED_DATA" },
	{ 0x00f8, "NV_MEMORY_FABRIC" },
	{ 0x00fd, "NV_MEMORY_MULTICAST_FABRIC" },
	{ 0x2080, "NV20_SUBDEVICE_0" },
	{ 0x2081, "NV2081_BINAPI" },
	{ 0x503b, "NV50_P2P" },
	{ 0x503c, "NV50_THIRD_PARTY_P2P" },
	{ 0x50a0, "NV50_MEMORY_VIRTUAL" },
	{ 0x83de, "GT200_DEBUGGER" },
	{ 0x9067, "FERMI_CONTEXT_SHARE_A" },
	{ 0x90cd, "NV_EVENT_BUFFER" },
	{ 0x90e6, "GF100_SUBDEVICE_MASTER" },
	{ 0x90f1, "FERMI_VASPACE_A" },
	{ 0xa06c, "KEPLER_CHANNEL_GROUP_A" },
	{ 0xb0b5, "MAXWELL_DMA_COPY_A" },
	{ 0xb0cc, "MAXWELL_PROFILER" },
	{ 0xb1cc, "MAXWELL_PROFILER_CONTEXT" },
	{ 0xb2cc, "MAXWELL_PROFILER_DEVICE" },
	{ 0xb06f, "MAXWELL_CHANNEL_GPFIFO_A" },
	{ 0xc06f, "PASCAL_CHANNEL_GPFIFO_A" },
	{ 0xc361, "VOLTA_USERMODE_A" },
	{ 0xc36f, "VOLTA_CHANNEL_GPFIFO_A" },
	{ 0xc3c0, "VOLTA_COMPUTE_A" },
	{ 0xc461, "TURING_USERMODE_A" },
	{ 0xc46f, "TURING_CHANNEL_GPFIFO_A" },
	{ 0xc5b5, "TURING_DMA_COPY_A" },
	{ 0xc5c0, "TURING_COMPUTE_A" },
	{ 0xc56f, "AMPERE_CHANNEL_GPFIFO_A" },
	{ 0xc661, "HOPPER_USERMODE_A" },
	{ 0xc6b5, "AMPERE_DMA_COPY_A" },
	{ 0xc6c0, "AMPERE_COMPUTE_A" },
	{ 0xc7b5, "AMPERE_DMA_COPY_B" },
	{ 0xc7c0, "AMPERE_COMPUTE_B" },
	{ 0xc86f, "HOPPER_CHANNEL_GPFIFO_A" },
	{ 0xc8b5, "HOPPER_DMA_COPY_A" },
	{ 0xc96f, "BLACKWELL_CHANNEL_GPFIFO_A" },
	{ 0xc9b5, "BLACKWELL_DMA_COPY_A" },
	{ 0xc9c0, "ADA_COMPUTE_A" },
	{ 0xcb33, "NV_CONFIDENTIAL_COMPUTE" },
	{ 0xcba2, "HOPPER_SEC2_WORK_LAUNCH_A" },
	{ 0xcbc0, "HOPPER_COMPUTE_A" },
	{ 0xcdc0, "BLACKWELL_COMPUTE_A" },
};

static const struct named controls[] = {
	{ 0x00000101, "SYSTEM_GET_BUILD_VERSION" },
	{ 0x00000127, "SYSTEM_GET_P2P_CAPS" },
	{ 0x00000136, "SYSTEM_GET_FABRIC_STATUS" },
	{ 0x0000013a, "SYSTEM_GET_P2P_CAPS_MATRIX" },
	{ 0x000001f0, "SYSTEM_GET_FEATURES" },
	{ 0x00000201, "GPU_GET_ATTACHED_IDS" },
	{ 0x00000202, "GPU_GET_ID_INFO" },
	{ 0x00000205, "GPU_GET_ID_INFO_V2" },
	{ 0x00000214, "GPU_GET_PROBED_IDS" },
	{ 0x00000215, "GPU_ATTACH_IDS" },
	{ 0x00000216, "GPU_DETACH_IDS" },
	{ 0x0000021b, "GPU_GET_PCI_INFO" },
	{ 0x00000275, "GPU_GET_UUID_FROM_GPU_ID" },
	{ 0x00000279, "GPU_QUERY_DRAIN_STATE" },
	{ 0x0000027b, "GPU_GET_MEMOP_ENABLE" },
	{ 0x00000288, "GPU_GET_ACTIVE_DEVICE_IDS" },
	{ 0x00000a04, "SYNC_GPU_BOOST_GROUP_INFO" },
	{ 0x00000d01, "CLIENT_GET_ADDR_SPACE_TYPE" },
	{ 0x00000d04, "CLIENT_SET_INHERITED_SHARE_POLICY" },
	{ 0x00800201, "GPU_GET_CLASSLIST" },
	{ 0x00800280, "GPU_GET_NUM_SUBDEVICES" },
	{ 0x00800289, "GPU_GET_VIRTUALIZATION_MODE" },
	{ 0x00800292, "GPU_GET_CLASSLIST_V2" },
	{ 0x00801307, "FB_GET_CAPS_V2" },
	{ 0x00801401, "HOST_GET_CAPS" },
	{ 0x00801402, "HOST_GET_CAPS_V2" },
	{ 0x0080170d, "FIFO_GET_CHANNELLIST" },
	{ 0x00801909, "PERF_CUDA_LIMIT_SET_CONTROL" },
	{ 0x20800102, "GPU_GET_INFO_V2" },
	{ 0x20800110, "GPU_GET_NAME_STRING" },
	{ 0x20800111, "GPU_GET_SHORT_NAME_STRING" },
	{ 0x20800119, "GPU_GET_SIMULATION_INFO" },
	{ 0x20800122, "GPU_EXEC_REG_OPS" },
	{ 0x2080012f, "GPU_QUERY_ECC_STATUS" },
	{ 0x20800131, "GPU_QUERY_COMPUTE_MODE_RULES" },
	{ 0x20800137, "GPU_GET_FERMI_GPC_INFO" },
	{ 0x20800142, "GPU_GET_ID" },
	{ 0x2080014a, "GPU_GET_GID_INFO" },
	{ 0x20800170, "GPU_GET_ENGINES_V2" },
	{ 0x2080018b, "GPU_GET_ACTIVE_PARTITION_IDS" },
	{ 0x20800195, "GPU_GET_COMPUTE_POLICY_CONFIG" },
	{ 0x208001a3, "GET_GPU_FABRIC_PROBE_INFO" },
	{ 0x20801201, "GR_GET_INFO" },
	{ 0x20801210, "GR_SET_CTXSW_PREEMPTION_MODE" },
	{ 0x20801218, "GR_GET_CTX_BUFFER_SIZE" },
	{ 0x2080121b, "GR_GET_GLOBAL_SM_ORDER" },
	{ 0x20801227, "GR_GET_CAPS_V2" },
	{ 0x2080122a, "GR_GET_GPC_MASK" },
	{ 0x2080122b, "GR_GET_TPC_MASK" },
	{ 0x20801230, "GR_GET_SM_ISSUE_RATE_MODIFIER" },
	{ 0x20801303, "FB_GET_INFO_V2" },
	{ 0x20801701, "MC_GET_ARCH_INFO" },
	{ 0x20801801, "BUS_GET_PCI_INFO" },
	{ 0x20801803, "BUS_GET_PCI_BAR_INFO" },
	{ 0x20801823, "BUS_GET_INFO_V2" },
	{ 0x2080182a, "BUS_GET_PCIE_SUPPORTED_GPU_ATOMICS" },
	{ 0x2080182b, "BUS_GET_C2C_INFO" },
	{ 0x2080200a, "PERF_BOOST" },
	{ 0x20802068, "PERF_GET_CURRENT_PSTATE" },
	{ 0x2080220c, "RC_RELEASE_WATCHDOG_REQUESTS" },
	{ 0x20802210, "RC_SOFT_DISABLE_WATCHDOG" },
	{ 0x20802a0a, "CE_GET_ALL_CAPS" },
	{ 0x20803001, "NVLINK_GET_NVLINK_CAPS" },
	{ 0x20803002, "NVLINK_GET_NVLINK_STATUS" },
	{ 0x20803601, "GSP_GET_FEATURES" },
	{ 0x20803801, "GRMGR_GET_GR_FS_INFO" },
	{ 0x503c0102, "REGISTER_VA_SPACE" },
	{ 0x83de0309, "DEBUG_SET_EXCEPTION_MASK" },
	{ 0x90e60102, "MASTER_GET_VIRTUAL_FUNCTION_ERROR_CONT_INTR_MASK" },
	{ 0x90f10101, "VASPACE_GET_GMMU_FORMAT" },
	{ 0xa06c0101, "GPFIFO_SCHEDULE" },
	{ 0xa06c0103, "SET_TIMESLICE" },
	{ 0xa06c0105, "PREEMPT" },
	{ 0xc36f0108, "GPFIFO_GET_WORK_SUBMIT_TOKEN" },
	{ 0xcb330101, "SYSTEM_GET_CAPABILITIES" },
};

static const struct named statuses[] = {
	{ 0x00, "NV_OK" },
	{ 0x1a, "NV_ERR_INSUFFICIENT_RESOURCES" },
	{ 0x1b, "NV_ERR_INSUFFICIENT_PERMISSIONS" },
	{ 0x1f, "NV_ERR_INVALID_ARGUMENT" },
	{ 0x22, "NV_ERR_INVALID_CLASS" },
	{ 0x23, "NV_ERR_INVALID_CLIENT" },
	{ 0x24, "NV_ERR_INVALID_COMMAND" },
	{ 0x31, "NV_ERR_INVALID_OBJECT" },
	{ 0x33, "NV_ERR_INVALID_OBJECT_HANDLE" },
	{ 0x37, "NV_ERR_INVALID_OFFSET" },
	{ 0x3d, "NV_ERR_INVALID_POINTER" },
	{ 0x40, "NV_ERR_INVALID_STATE" },
	{ 0x51, "NV_ERR_NO_MEMORY" },
	{ 0x56, "NV_ERR_NOT_SUPPORTED" },
	{ 0x57, "NV_ERR_OBJECT_NOT_FOUND" },
	{ 0x65, "NV_ERR_TIMEOUT" },
	{ 0x0f, "NV_ERR_GPU_IS_LOST" },
};

#define LOOK_UP(table, wanted) look_up(table, sizeof(table) / sizeof((table)[0]), wanted)

static const char *look_up(const struct named *table, size_t len, u32 number)
{
	for (size_t i = 0; i < len; i++)
		if (table[i].number == number)
			return table[i].name;
	return NULL;
}

const char *nvidia_escape_name(u32 nr)
{
	return LOOK_UP(escapes, nr);
}

const char *nvidia_uvm_name(u32 cmd)
{
	return LOOK_UP(uvm, cmd);
}

const char *nvidia_class_name(u32 class)
{
	return LOOK_UP(classes, class);
}

const char *nvidia_control_name(u32 control)
{
	return LOOK_UP(controls, control);
}

const char *nvidia_status_name(u32 status)
{
	return LOOK_UP(statuses, status);
}

/* The model does not print: words are put together here by hand. */
struct words {
	char *at;
	size_t room;
};

static void add_text(struct words *words, const char *text)
{
	while (*text && words->room > 1) {
		*words->at++ = *text++;
		words->room--;
	}
	*words->at = '\0';
}

static void add_hex(struct words *words, u32 number)
{
	char text[11] = "0x";
	int digits = 1, at = 2;

	while (digits < 8 && number >> (digits * 4))
		digits++;
	while (digits--)
		text[at++] = "0123456789abcdef"[number >> (digits * 4) & 15];
	text[at] = '\0';
	add_text(words, text);
}

static void add_named(struct words *words, const char *name, u32 number)
{
	if (name)
		add_text(words, name);
	else
		add_hex(words, number);
}

void nvidia_describe(char *into, size_t size, u32 device, u32 cmd, u32 inner_nr, u32 detail)
{
	struct words words = { into, size };

	if (!size)
		return;
	*into = '\0';
	if (device == NVIDIA_UVM) {
		if (!nvidia_uvm_name(cmd))
			add_text(&words, "UVM ");
		add_named(&words, nvidia_uvm_name(cmd), cmd);
		return;
	}
	if (ioc_type(cmd) != IOC_TYPE_NVIDIA) {
		add_text(&words, "ioctl ");
		add_hex(&words, cmd);
		return;
	}
	if (!nvidia_escape_name(inner_nr))
		add_text(&words, "NV_ESC ");
	add_named(&words, nvidia_escape_name(inner_nr), inner_nr);
	if (nvidia_detail_offset(inner_nr) == NO_OFFSET)
		return;
	add_text(&words, " ");
	if (inner_nr == NV_RM_CONTROL)
		add_named(&words, nvidia_control_name(detail), detail);
	else if (inner_nr == NV_RM_VID_HEAP_CONTROL)
		add_hex(&words, detail);
	else
		add_named(&words, nvidia_class_name(detail), detail);
}
